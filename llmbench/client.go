package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"

	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

// A client sends requests to one target. Every connection is kept for reuse
// whatever the concurrency; it asks for no compression, and follows no redirects.
// HTTP/1.1 is spoken, so that a stream has a connection of its own.
type client struct {
	target   Target
	base     string // the target's URL without a trailing slash
	sender   sender // the pool, but for tests
	pool     *conn.Pool
	runID    string            // prefix of the request IDs
	ordinal  atomic.Int64      // of the last request sent
	ended    atomic.Int64      // how many requests have ended, for progress
	control  *control          // or nil
	flight   *flight           // of the pass
	wall     func() int64      // the wall clock
	clockSet time.Duration     // by how much the wall clock was set in the last pass: 0, or no stamp of it counts
	gap      time.Duration     // the median between deltas in the warm-up; 0: unknown
	idles    idles             // of the last pass
	errors   distortion.Errors // of its control streams; none if clockSet is not 0
	strain   strain.Strain     // of it
}

// A sender sends a request and returns when the head of its response has been read, as
// [conn.Pool.Send] does.
type sender interface {
	Send(*http.Request, *conn.Trace) (*http.Response, error)
}

// newClient returns a client of t.
func newClient(t Target) (*client, error) {
	base, err := t.base()
	if err != nil {
		return nil, err
	}
	t.Header = canonical(t.Header)
	through := http.ProxyFromEnvironment
	if t.NoProxy {
		through = nil
	}
	p, err := conn.NewPool(conn.Options{URL: base, Dial: t.Dial, Proxy: through})
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return &client{
		target: t,
		base:   base,
		sender: p,
		pool:   p,
		wall:   conn.WallClock,
		runID:  fmt.Sprintf("llmbench-%08x", rand.Uint32()),
	}, nil
}

// close closes the connections; no request is under way.
func (c *client) close() { c.pool.CloseIdle() }

// canonical returns a copy of h whose names are in canonical form.
func canonical(h http.Header) http.Header {
	c := http.Header{}
	for name, values := range h {
		for _, v := range values {
			c.Add(name, v)
		}
	}
	return c
}
