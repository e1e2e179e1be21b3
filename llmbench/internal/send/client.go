package send

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A Server says where a [Client] sends posts, how it connects to the server, and which dialect the server
// speaks.
type Server struct {
	At      endpoint.Endpoint
	Dialect dialect.Dialect
	Header  http.Header // sent with each request
	// Sign adds a signature of the instant at to the header of r, whose body is given; nil means that
	// requests are not signed. Sign is safe for concurrent use.
	Sign       func(r *http.Request, body []byte, at time.Time) error
	Secrets    redact.Secrets // credentials that the server may repeat, and that samples must not contain
	Compressed bool           // answers may be compressed
	Echo       []string       // fields of an answer's header that the further turns of its session send back; names are in canonical form
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error)
	Proxy      *url.URL // nil means none
	TLS        *tls.Config
}

// A Client sends posts to one server. It keeps every connection for reuse, independent of the concurrency.
// It does not ask for compression and does not follow redirects. It speaks HTTP/1.1, so that each stream
// has its own connection.
type Client struct {
	server  Server
	events  *sse.Budget // limits the memory for large events of all streams
	sender  sender      // the pool, except in tests
	pool    *conn.Pool
	wall    func() int64 // the wall clock, in nanoseconds since 1970
	runID   string       // prefix of the request IDs
	passes  atomic.Int64 // number of passes so far, including the warm-up
	ordinal atomic.Int64 // number of the last request outside of a pass
	ended   atomic.Int64 // number of requests that have ended

	longest time.Duration // duration of the longest post so far whose requests all succeeded
}

// A sender sends a request, and returns when the head of its response has been read; see [conn.Pool.Send].
type sender interface {
	Send(*http.Request, *conn.Trace) (*http.Response, error)
}

// NewClient returns a client of s. It sends nothing. The caller must close the client.
func NewClient(s Server) (*Client, error) {
	s.Header = canonical(s.Header)
	p, err := conn.NewPool(conn.Options{URL: s.At.Base, Socket: s.At.Socket, Dial: s.Dial, Proxy: s.Proxy, TLS: s.TLS})
	if err != nil {
		return nil, err
	}
	return &Client{
		server: s,
		events: sse.NewBudget(maxLarge),
		sender: p,
		pool:   p,
		wall:   conn.WallClock,
		runID:  fmt.Sprintf("llmbench-%08x", rand.Uint32()),
	}, nil
}

// Close closes the connections. No request may be in flight.
func (c *Client) Close() { c.pool.CloseIdle() }

// Clock returns a clock that begins now.
func (c *Client) Clock() conn.Clock { return conn.NewClock(c.wall) }

// Ended returns the number of requests of passes that have ended so far.
func (c *Client) Ended() int { return int(c.ended.Load()) }

// RunID returns the prefix of the IDs of requests.
func (c *Client) RunID() string { return c.runID }

// SetRunID sets the prefix of the IDs of requests. No request may be in flight.
func (c *Client) SetRunID(id string) { c.runID = id }

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
