package send

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An echo holds what the answers of a session told the client to send back with the next turn. The zero
// value holds nothing. Turns of a session that are in flight at the same time share an echo.
type echo struct {
	mu      sync.Mutex
	header  http.Header    // guarded by mu
	cookies []*http.Cookie // guarded by mu
}

// keep takes the named fields from the header of an answer. If the answer lacks a field, the value of an
// earlier answer remains. Set-Cookie stands for cookies, which are sent back as a browser would send them to
// the same path, without regard to their attributes. keep returns an error if all fields together are too long.
func (e *echo) keep(names []string, resp *http.Response) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		values := resp.Header[name]
		switch {
		case len(values) == 0:
		case name == "Set-Cookie":
			for _, c := range resp.Cookies() {
				e.cookies = slices.DeleteFunc(e.cookies, func(o *http.Cookie) bool { return o.Name == c.Name })
				e.cookies = append(e.cookies, c)
			}
		default:
			if e.header == nil {
				e.header = http.Header{}
			}
			e.header[name] = slices.Clone(values)
		}
	}
	if n := e.size(); n > maxEcho {
		return fail(sample.Malformed, "the header fields that the session has to send back have %d bytes: want at most %d", n, maxEcho)
	}
	return nil
}

// size returns the length of all fields, in bytes. The caller must hold e.mu.
func (e *echo) size() (n int) {
	for name, values := range e.header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	for _, c := range e.cookies {
		n += len(c.Name) + len(c.Value)
	}
	return n
}

// add adds what the echo holds to a request. A field of the answer replaces the request's own field of the
// same name.
func (e *echo) add(req *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, values := range e.header {
		req.Header[name] = values
	}
	if len(e.cookies) == 0 {
		return
	}
	pairs := slices.Clone(req.Header["Cookie"]) // other requests share it
	for _, c := range e.cookies {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	req.Header["Cookie"] = []string{strings.Join(pairs, "; ")}
}
