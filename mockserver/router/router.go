package router

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// maxBody is the largest body of a request in bytes.
const maxBody = 64 << 20

// A Router forwards requests to replicas. It is an http.Handler, and answers with status 502 if a replica
// gives no answer. Each event of a stream is forwarded at once.
type Router struct {
	replicas []*httputil.ReverseProxy

	mu     sync.Mutex
	policy Policy
	open   []int // number of unfinished requests of each replica
}

// New returns a router to the servers at the given base URLs, such as the results of
// mockserver.Fleet.Listen. The router calls the policy under a lock.
func New(p Policy, replicas ...string) (*Router, error) {
	if len(replicas) == 0 {
		return nil, errors.New("router: no replicas: want at least one URL")
	}
	r := &Router{policy: p, open: make([]int, len(replicas))}
	transport := newTransport()
	for _, text := range replicas {
		to, err := url.Parse(text)
		if err != nil || to.Host == "" {
			return nil, fmt.Errorf("router: replica %q: want a URL like http://127.0.0.1:8000", text)
		}
		r.replicas = append(r.replicas, &httputil.ReverseProxy{
			Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(to) },
			FlushInterval: -1,
			Transport:     transport,
			ErrorLog:      log.New(io.Discard, "", 0), // the client sees the error
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				http.Error(w, "router: the replica gave no answer: "+err.Error(), http.StatusBadGateway)
			},
		})
	}
	return r, nil
}

// ServeHTTP forwards a request. It first reads the whole body, for three reasons: the policy needs the
// prompt, the request may have to be sent again, and an http.Server may discard the rest of a body when the
// answer begins, which would end the connection to the replica (https://go.dev/issue/40747).
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "router: the body of the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	req = req.WithContext(req.Context()) // a copy, because a handler must not change the request
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	i := r.begin(blocks(prompt(body)))
	defer r.end(i)
	r.replicas[i].ServeHTTP(w, req)
}

// begin chooses the replica for a request, and counts the request.
func (r *Router) begin(prefix []uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.policy.Choose(prefix, r.open)
	r.open[i]++
	return i
}

// end counts a request of a replica as finished.
func (r *Router) end(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[i]--
}
