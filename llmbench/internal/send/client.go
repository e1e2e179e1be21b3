package send

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
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
	Record     []string       // fields of an answer's header that are kept in its sample; names are in canonical form
	Shed       []int          // statuses with which the server sheds a request; nil means 429, 529, and 503 with Retry-After
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error)
	Proxy      *url.URL // nil means none
	TLS        *tls.Config
	HTTP2      bool // see [conn.Options]
}

// A Client sends posts to one server. It keeps every connection for reuse, independent of the concurrency.
// It does not ask for compression and does not follow redirects. With HTTP/1.1 each stream has its own
// connection, and with HTTP/2 streams share connections.
type Client struct {
	server  Server
	events  *sse.Budget // limits the memory for large events of all streams
	sender  sender      // the pool, except in tests
	pool    *conn.Pool
	wall    func() int64                // the wall clock, in nanoseconds since 1970
	runID   string                      // prefix of the request IDs
	passes  atomic.Int64                // number of passes so far, including the warm-up
	ordinal atomic.Int64                // number of the last request outside of a pass
	ended   atomic.Int64                // number of requests that have ended
	between atomic.Pointer[http.Header] // see Between; nil if no request was successful

	longest time.Duration // duration of the longest post so far whose requests all succeeded
}

// A sender sends a request, and returns when the head of its response has been read; see [conn.Pool.Send].
type sender interface {
	Send(*http.Request, *conn.Trace) (*http.Response, error)
}

// NewClient returns a client of s. It sends nothing. The caller must close the client.
func NewClient(s Server) (*Client, error) {
	s.Header = canonical(s.Header)
	p, err := conn.NewPool(conn.Options{URL: s.At.Base, Socket: s.At.Socket, Dial: s.Dial, Proxy: s.Proxy, TLS: s.TLS, HTTP2: s.HTTP2})
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

// keepBetween keeps what the header of the first successful answer says about the proxies in between.
func (c *Client) keepBetween(resp *http.Response) {
	if c.between.Load() != nil || resp.StatusCode != http.StatusOK {
		return
	}
	h := http.Header{}
	for _, name := range []string{"Server", "Via"} {
		if values := resp.Header[name]; values != nil {
			h[name] = slices.Clone(values) // a waiting stream does not keep the whole header
		}
	}
	c.between.CompareAndSwap(nil, &h)
}

// Between returns the fields Server and Via of the first successful answer, or nil if there was none. The header must
// not be changed.
func (c *Client) Between() http.Header {
	if h := c.between.Load(); h != nil {
		return *h
	}
	return nil
}

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
