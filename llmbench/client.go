package llmbench

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A client sends requests to one target. It keeps every connection for reuse, whatever the
// concurrency, asks for no compression and follows no redirects. It speaks HTTP/1.1, so that
// each stream has a connection of its own.
type client struct {
	target  Target
	secrets redact.Secrets // of the target
	events  *sse.Budget    // for large events of all streams
	at      endpoint.Endpoint
	sender  sender // the pool, except in tests
	pool    *conn.Pool
	wall    func() int64 // the wall clock, in nanoseconds since 1970
	runID   string       // prefix of the request IDs
	passes  atomic.Int64 // number of passes so far, the warm-up included
	ordinal atomic.Int64 // of the last request outside of a pass
	ended   atomic.Int64 // requests that have ended, for the progress line

	longest time.Duration // of the posts of all passes so far of which each request succeeded
}

// A sender sends a request and returns when the head of its response has been read, as
// [conn.Pool.Send] does.
type sender interface {
	Send(*http.Request, *conn.Trace) (*http.Response, error)
}

// maxLarge is how many bytes the large events of all streams may take.
const maxLarge = 512 << 20

// newClient returns a client of t. It must be closed.
func newClient(t Target) (*client, error) {
	at, err := t.endpoint()
	if err != nil {
		return nil, err
	}
	t.Header = canonical(t.Header)
	proxy, err := t.proxy()
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	p, err := conn.NewPool(conn.Options{URL: at.Base, Socket: at.Socket, Dial: t.Dial, Proxy: proxy, TLS: t.TLS})
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return &client{
		target:  t,
		secrets: t.secrets(),
		events:  sse.NewBudget(maxLarge),
		at:      at,
		sender:  p,
		pool:    p,
		wall:    conn.WallClock,
		runID:   fmt.Sprintf("llmbench-%08x", rand.Uint32()),
	}, nil
}

// close closes the connections. No request may be in flight.
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
