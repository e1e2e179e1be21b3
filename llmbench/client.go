package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Client sends single requests to a target, each when its caller calls [Client.Do]. It is for programs
// that decide themselves when to send a request, such as other load generators. [Run] and [Pass] send whole
// loads instead. A Client keeps connections open for reuse, as Run and Pass do. It is safe for concurrent
// use.
//
// The instants in its samples count from the creation of the Client. The t0 of a request is the instant at
// which Do was called, as in an open loop. A Client does not judge whether the client side distorted a
// metric. The field Lags of [sample.Sample] tells how late the client read each delta.
type Client struct {
	target  Target
	client  *send.Client
	load    Load
	options send.Options
	clock   conn.Clock
	flight  audit.Flight
	hold    *priority.Hold // until the client is closed

	ending atomic.Int64 // requests that have ended and whose samples are not kept yet

	mu      sync.Mutex
	records *book
	audit   audit.Audit
	sent    int            // number of requests sent
	free    []*send.Worker // workers that have no request in flight
	err     error          // if not nil, why no further request can be sent
}

// errClosed is the error of a Client after Close.
var errClosed = errors.New("the client is closed")

// NewClient returns a client of t. It uses the fields NoStream, Timeout, IdleTimeout, SLO, KeepText and
// Tokenizer of l, and returns an error if any other field is set. If LLMBENCH_OUT is set, the record of
// each request is written to a file when the request has ended. The file is in the folder LLMBENCH_OUT and
// is named after name. NewClient sends nothing. The caller must close the client. Until then, if
// LLMBENCH_PRIORITY is auto, the threads of the process have a better place in the queue for a CPU, where they may.
func NewClient(name string, t Target, l Load) (*Client, error) {
	cfg, err := process.ReadConfig()
	if err != nil {
		return nil, err
	}
	if cfg.Shards.Addr != "" {
		return nil, errors.New("single requests are sent by one process: want no LLMBENCH_RENDEZVOUS")
	}
	if err := l.checkSingle(); err != nil {
		return nil, err
	}
	l.Requests, l.Concurrency = []Request{{}}, 1
	if l, err = l.check(); err != nil {
		return nil, err
	}
	l.Requests, l.Concurrency = nil, 0
	c, err := newClient(t)
	if err != nil {
		return nil, err
	}
	b, err := newBook(cfg, name, t, l)
	if err != nil {
		return nil, err
	}
	hold := priority.Take(t.place(cfg))
	return &Client{target: t, client: c, load: l, options: l.options(), clock: c.Clock(), records: b, hold: hold}, nil
}

// checkSingle returns an error if l sets a field that a Client does not use.
func (l Load) checkSingle() error {
	used := []string{"NoStream", "Timeout", "IdleTimeout", "SLO", "KeepText", "Tokenizer"}
	var set []string
	for field, value := range reflect.ValueOf(l).Fields() {
		if !value.IsZero() && !slices.Contains(used, field.Name) {
			set = append(set, field.Name)
		}
	}
	if len(set) > 0 {
		return fmt.Errorf("load: %s for single requests: want NoStream, Timeout, IdleTimeout, SLO, KeepText and Tokenizer at most", strings.Join(set, ", "))
	}
	return nil
}

// Open opens connections until n requests can be sent at the same time, so that the first requests need not wait for a
// connection, and returns the number of open connections: n with HTTP/1.1, and fewer with HTTP/2. It opens fewer if the
// process may not open so many, or if the server refuses some. Requests then open their own connections.
func (c *Client) Open(ctx context.Context, n int) int { return c.client.Open(ctx, n, c.load.Timeout) }

// Do sends r now, and returns its sample when the request has ended. The request is given up at a deadline
// of the load, or when ctx ends. If ctx ended, the outcome is [sample.Canceled]. A request that failed has
// a sample like any other.
//
// The error is not nil in four cases. If r is invalid or the client is closed, nothing was sent and there
// is no sample. If the record of the sample could not be written, or if the check of the answer panicked,
// there is a sample, but the client sends no further request. A session is an invalid request: the caller
// must send each turn itself.
func (c *Client) Do(ctx context.Context, r Request) (sample.Sample, error) {
	if len(r.Then) > 0 {
		return sample.Sample{}, fmt.Errorf("request: a session of %d turns: want one request for each turn", 1+len(r.Then))
	}
	p, err := newPost(&c.load, c.target, r)
	if err != nil {
		return sample.Sample{}, fmt.Errorf("request: %w", err)
	}
	w, err := c.takeWorker(&p)
	if err != nil {
		return sample.Sample{}, err
	}
	c.client.Presign(&p, time.Now())
	s := w.Do(ctx, p, c.clock.Now(), true)
	if errors.Is(s.Err, send.ErrNotSent) {
		return sample.Sample{}, fmt.Errorf("request: %w", s.Err)
	}
	c.ending.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.ending.Add(-1) == 0
	c.free = append(c.free, w)
	return s, c.keep(send.Finished{Sample: &s, Check: p.Check}, idle)
}

// takeWorker returns a free or new worker for p, and gives p its number.
func (c *Client) takeWorker(p *send.Post) (*send.Worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	p.Request = c.sent
	c.sent++
	if n := len(c.free); n > 0 {
		w := c.free[n-1]
		c.free = c.free[:n-1]
		return w, nil
	}
	return send.NewWorker(c.client, &c.options, c.clock, &c.flight), nil
}

// keep completes a sample and writes its record. If idle is set, it also hands all buffered records to the
// operating system. The caller must hold c.mu.
func (c *Client) keep(f send.Finished, idle bool) error {
	panicked := f.Complete(&c.options, c.clock, c.target.secrets())
	c.audit.Add(f.Sample)
	if c.err = cmp.Or(c.err, panicked); c.err != nil {
		return c.err
	}
	if err := c.records.write(f.Sample, idle); err != nil {
		c.err = fmt.Errorf("records: %w", err)
	}
	return c.err
}

// Close closes the connections and ends the file of records. No request may be in flight. Close returns an
// error if a record could not be written, or if the samples contradict each other; the records then also
// end with that error. Further calls do nothing.
func (c *Client) Close() error { return c.CloseWithError(nil) }

// CloseWithError is like Close, for a program that has failed. If why is not nil, the records end with why,
// and say that metrics computed from them are not a result.
func (c *Client) CloseWithError(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == errClosed {
		return nil
	}
	c.client.Close()
	c.hold.Release()
	err := c.err
	if wrong := c.audit.Check(&c.flight, 0); err == nil && wrong != nil {
		err = fmt.Errorf("the samples contradict themselves: %w", wrong)
	}
	end := records.End{Outcome: records.EndedOK}
	if failed := cmp.Or(err, why); failed != nil {
		end = records.End{Outcome: records.EndedFailed, Why: c.target.Redact(failed.Error())}
	}
	c.err = errClosed
	return cmp.Or(err, c.records.close(end))
}
