// Package gateway is an example: a gateway in front of an inference server, and its
// benchmarks. To begin a module of your own, copy the folder, run these commands in the
// copy, and put your own code in the place of New:
//
//	go mod edit -dropreplace=github.com/seed-2b9cec6d/llmbench -droprequire=github.com/seed-2b9cec6d/llmbench
//	go mod tidy
//
// catalogue_test.go runs two scenarios of the catalogue against the gateway.
// gateway_test.go has a benchmark of its own: what the gateway costs. gate.sh compares two
// versions of the gateway as a program.
package gateway

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// New returns a gateway to the server at upstream. It forwards requests that have one
// of the keys as their bearer token, without the key, and refuses all others.
func New(upstream *url.URL, keys ...string) http.Handler {
	known := map[string]bool{}
	for _, k := range keys {
		known[k] = true
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Header.Del("Authorization")
		},
		FlushInterval: -1, // forward each event at once
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || !known[key] {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"error":{"message":"no such key"}}`))
			return
		}
		proxy.ServeHTTP(w, r)
	})
}
