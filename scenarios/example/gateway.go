// Package gateway is an example: a gateway in front of an inference server, and its
// benchmarks. To begin a module of your own, copy the folder, run these commands in the
// copy, and put your own code in the place of New:
//
//	go mod edit -dropreplace=github.com/seed-2b9cec6d/llmbench -droprequire=github.com/seed-2b9cec6d/llmbench
//	go mod tidy
//
// catalogue_test.go runs two scenarios of the catalogue against the gateway.
// gateway_test.go has a benchmark of its own: what the gateway costs. kit_test.go checks what
// clients get through it when servers fail. gate.sh compares two
// versions of the gateway as a program.
package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
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
		Transport:     newTransport(),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || !known[key] {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"error":{"message":"no such key"}}`))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r = r.WithContext(r.Context()) // a copy, because a handler must not change its request
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	})
}

// maxBody is the largest body of a request in bytes. The gateway holds the whole body, so that a transport
// can send it again.
const maxBody = 64 << 20

// A transport sends requests on kept connections. Many inference servers close a connection after an answer
// or after some idle seconds, without a word. A request that is sent just then gets no answer. net/http does
// not send a POST again, so a ReverseProxy alone answers with status 502. A transport sends such a request
// again, once and on a new connection: a completion that is computed twice does no harm.
type transport struct{ kept, fresh *http.Transport }

func newTransport() transport {
	return transport{
		kept:  &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
		fresh: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	reused := false
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
	resp, err := t.kept.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil || !reused || r.Context().Err() != nil {
		return resp, err
	}
	again := r.WithContext(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.fresh.RoundTrip(again)
}
