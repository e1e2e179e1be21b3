// Package gateway is an example of something of yours that stands before an
// inference server, and of its benchmark. Copy it, leave out the replace line of
// go.mod, get the module in its place (go get github.com/seed-2b9cec6d/llmbench),
// and put your own code in the place of New.
package gateway

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// New returns a gateway to the server at upstream: it lets those in who have one of
// the keys, and keeps the keys to itself.
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
		FlushInterval: -1, // each event goes on when it has come
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
