// Gateway is a server of which tests compare versions. It checks each request and forwards it to another
// server. Tests make a new version by changing the constants.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

const (
	checks = 4  // how often a completion is checked before it is forwarded; each check takes about a millisecond
	audits = 0  // how often a completion is checked again in parallel to the response
	exit   = -1 // the status with which the gateway exits at once; -1 means that it serves
)

var payload [1 << 20]byte

// check does work that needs the same CPU time for each request.
func check(times int) (sum byte) {
	for range times {
		sum ^= sha256.Sum256(payload[:])[0]
	}
	return sum
}

func main() {
	listen := flag.String("listen", "", "address")
	upstream := flag.String("upstream", "", "URL of the server to forward requests to")
	flag.Parse()
	to, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}
	if exit >= 0 {
		log.Print("no license")
		os.Exit(exit)
	}
	log.Fatal(http.ListenAndServe(*listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read the whole body first. The proxy may still read from it when the response begins, and net/http
		// closes the client's body at the first byte of the response.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.HasSuffix(r.URL.Path, "/completions") {
			proxy.ServeHTTP(w, r)
			return
		}
		check(checks)
		go check(audits)
		proxy.ServeHTTP(w, r)
	})))
}
