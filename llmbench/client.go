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

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Client sends single requests to a target, each when its caller says so. It is for programs that
// decide themselves when a request is sent, such as other load generators; [Run] and [Pass] send
// whole loads. It keeps connections for reuse, as they do, and is safe for concurrent use.
//
// The instants of its samples count from its creation. t0 of a request is the instant at which [Client.Do]
// was called, as in an open loop. A Client does not judge whether the client
// distorted a figure; [sample.Sample].Lags say how late it read each delta.
type Client struct {
	target  Target
	client  *send.Client
	load    Load
	options send.Options
	clock   conn.Clock
	flight  audit.Flight

	ending atomic.Int64 // requests that have ended, or are about to, and whose samples are not kept yet

	mu      sync.Mutex
	records *book
	audit   audit.Audit
	sent    int            // requests
	free    []*send.Worker // those without a request
	err     error          // why no request can be sent any more
}

// errClosed is the error of a Client that is closed.
var errClosed = errors.New("the client is closed")

// NewClient returns a client of t. Of l it uses NoStream, Timeout, IdleTimeout, SLO, KeepText and
// Tokenizer; an error names any other field that is set. If LLMBENCH_OUT is set, each sample is written to a
// file of that name when its request has ended. NewClient sends nothing. The client must be closed.
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
	return &Client{target: t, client: c, load: l, options: l.options(), clock: c.Clock(), records: b}, nil
}

// checkSingle returns an error if l has a field that single requests do not have.
func (l Load) checkSingle() error {
	used := []string{"NoStream", "Timeout", "IdleTimeout", "SLO", "KeepText", "Tokenizer"}
	var set []string
	for field, value := range reflect.ValueOf(l).Fields() {
		if !value.IsZero() && !slices.Contains(used, field.Name) {
			set = append(set, field.Name)
		}
	}
	if len(set) > 0 {
		return fmt.Errorf("load: %s for single requests; want NoStream, Timeout, IdleTimeout, SLO, KeepText and Tokenizer at most", strings.Join(set, ", "))
	}
	return nil
}

// Open opens connections until n are open, so that the first requests find one. It opens fewer if the
// process may not open as many, or if the server does not let it; requests then open their own.
func (c *Client) Open(ctx context.Context, n int) int { return c.client.Open(ctx, n, c.load.Timeout) }

// Do sends r now, and returns its sample when the request has ended. The request ends by itself, by a
// deadline of the load, or when ctx ends; its outcome is then [sample.Canceled]. A request that failed
// has a sample like any other.
//
// The error says that r is invalid or the client is closed, so that nothing was sent and there is no
// sample, that the record of the sample could not be written, or that the check panicked. After the last
// two no further request is sent.
// A session is invalid: its caller sends each turn.
func (c *Client) Do(ctx context.Context, r Request) (sample.Sample, error) {
	if len(r.Then) > 0 {
		return sample.Sample{}, fmt.Errorf("request: a session of %d turns; want one request for each turn", 1+len(r.Then))
	}
	p, err := newPost(&c.load, c.target, r)
	if err != nil {
		return sample.Sample{}, fmt.Errorf("request: %w", err)
	}
	w, err := c.takeWorker(&p)
	if err != nil {
		return sample.Sample{}, err
	}
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

// takeWorker returns a worker for p, which gets its number.
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

// keep completes a sample and writes its record; the operating system has the record if idle is
// set. The caller has locked c.mu.
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

// Close closes the connections and ends the file of records. No request may be in flight. It returns an
// error if a record could not be written, or if the samples contradict themselves; the records then say
// so. Further calls do nothing.
func (c *Client) Close() error { return c.CloseWithError(nil) }

// CloseWithError is Close for a program that has failed: unless why is nil, the records say that
// figures computed from them are no result, because of why.
func (c *Client) CloseWithError(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == errClosed {
		return nil
	}
	c.client.Close()
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
