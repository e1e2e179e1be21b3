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
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// ErrClientBound is wrapped by the error of [Pass] if the client distorted the pass, or if the
// distortion is unknown.
var ErrClientBound = errors.New("client-bound")

// ErrBursts is wrapped by the error of [Pass] if answers came in bursts, because something between
// the server and the client buffers streams. See [sample.Bursts].
var ErrBursts = errors.New("answers come in bursts")

// Pass measures t under l once, without a benchmark: it sends the warm-up and then one pass
// over the requests of l, as [Run] does. It is for searches, whose op is many passes with a different
// load each. The result has the samples of the pass, and should be closed. [sample.Summarize]
// computes figures from samples.
//
// Failed requests are samples like any other, whatever their number: l.MaxFail only applies to
// the warm-up. The error says that the pass could not be made, that it contradicts itself, or
// that ctx has ended; then there is no result. If LLMBENCH_OUT is set, the samples are
// written to a file of that name, whatever the error.
//
// If the client may distort a core unit or one of l.Units by more than l.MaxDistortion, the error
// wraps [ErrClientBound] and names the units; the result is returned with it. Its Bounds say whether that
// can change a conclusion. The error wraps ErrClientBound, too, and there are no Bounds, if the distortion is unknown: the wall clock was set during the pass, or
// the kernel gives no timestamps and fewer than five control streams were measured.
//
// If answers came in bursts, the error wraps [ErrBursts] and names the units that then mean
// nothing, times to and between the deltas of answers; the result is returned with it. E2E
// latencies, rates and counts are right, unless the error wraps ErrClientBound as well.
//
// If several processes measure together, all of them must make the same passes in the same order.
// Each sends its part of the requests. Result and error are the same in all of them, so that what a
// search does next is the same, too.
//
// With [BoundReported] neither is judged. That is the default for a target that is
// Simulated, because the distortion cannot be measured in a bubble of testing/synctest.
func Pass(ctx context.Context, name string, t Target, l Load) (result *Result, err error) {
	crew := process.newCrew(cmp.Or(name, "a single pass"))
	m, err := setUp(t, l)
	if err != nil {
		return nil, crew.fail(err)
	}
	m.joins(crew)
	defer func() {
		if result == nil {
			m.samples.Close()
		}
	}()
	defer m.close()
	if l.Fresh != nil {
		return nil, crew.fail(errors.New("load: Fresh for a single pass; want Requests or Lazy"))
	}
	pl, err := m.load.plan(t)
	if err != nil {
		return nil, crew.fail(err)
	}
	if err := m.beginRecords(name); err != nil {
		return nil, crew.fail(err)
	}
	defer func() {
		if closeErr := m.endRecords(); closeErr != nil {
			result, err = nil, errors.Join(err, crew.fail(closeErr))
		}
	}()
	if err := m.single(ctx, pl); err != nil {
		err = m.fail(err)
		if !errors.Is(err, ErrClientBound) && !errors.Is(err, ErrBursts) {
			return nil, err
		}
		if m.bound == BoundWithheld && m.end.Bounds != nil && !errors.Is(err, ErrBursts) { // the other figures stand
			m.end.Outcome, m.end.Why = records.EndedOK, ""
		}
		return m.result(), err
	}
	m.end.Outcome, m.end.Why = records.EndedOK, ""
	return m.result(), nil
}

// single makes the one pass of a measurement.
func (m *measurement) single(ctx context.Context, pl *plan) error {
	if err := m.begin(); err != nil {
		return err
	}
	if err := m.prepare(ctx, m.bound != BoundReported); err != nil {
		return err
	}
	r, err := m.pass(ctx, 0, pl)
	if err != nil {
		return err
	}
	m.add(r)
	var c conclusion
	if m.crew.leads() {
		c, err = m.checkSingle(r.clockChange)
	} else if m.bound != BoundReported {
		_, err = m.report(nil)
	}
	if err = cmp.Or(err, m.samples.Err()); err != nil {
		return err
	}
	if c, err = m.conclude(c); err != nil {
		return err
	}
	return errorOf(c)
}

// checkSingle says in what way the client distorted the one pass, or why that is unknown, and in
// what way answers came in bursts; each is "" if not. The wall clock was set by clockChange during
// the pass. Without a judgement, both are "".
func (m *measurement) checkSingle(clockChange time.Duration) (c conclusion, err error) {
	if m.bound == BoundReported {
		return c, nil
	}
	f := findFacts(m.all(), m.elapsed, &m.load)
	if m.load.Figures != nil {
		f.summary.Add(m.load.Figures(m.all()))
	}
	metrics := f.summary.Metrics
	if err := m.judgeBursts(metrics, f.bursts); err != nil {
		c.Bursts = err.Error()
	}
	d, err := m.judge(metrics)
	switch {
	case err != nil:
		return c, err
	case len(d.Distorted) > 0:
		c.Client = d.Text(true)
	case clockChange != 0:
		c.Client = fmt.Sprintf("the wall clock was set by %v during the pass, so that the distortion by the client is unknown", clockChange)
	case d.Unknown != "":
		c.Client = "the distortion by the client is unknown: " + d.Unknown
	}
	return c, nil
}

// errorOf returns the error of a single pass that has a result, or nil.
func errorOf(c conclusion) error {
	var all []error
	if c.Client != "" {
		all = append(all, fmt.Errorf("%w: %s", ErrClientBound, c.Client))
	}
	if c.Bursts != "" {
		all = append(all, explained{ErrBursts, c.Bursts})
	}
	if len(all) == 0 {
		return nil
	}
	return common{errors.Join(all...)}
}

// An explained error is one whose text has all.
type explained struct {
	error
	text string
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.error }

// Do sends one request to t, on a new connection, and returns its sample when the request has
// ended. With stream it asks for a streamed answer. The request ends with ctx, and after
// [DefaultTimeout] at the latest. Do is for what comes before a measurement: to find out
// whether a server answers, and how it counts tokens. The Outcome of the sample is not
// [sample.OK] if the request failed, or if t or r is invalid.
func Do(ctx context.Context, t Target, r Request, stream bool) sample.Sample {
	s, err := do(ctx, t, r, stream)
	if err != nil {
		return sample.Sample{Outcome: sample.Malformed, Err: err}
	}
	return s
}

// do is Do. It returns an error if t or r is invalid.
func do(ctx context.Context, t Target, r Request, stream bool) (sample.Sample, error) {
	l, err := Load{Requests: []Request{r}, Concurrency: 1, NoStream: !stream}.check()
	if err != nil {
		return sample.Sample{}, err
	}
	pl, err := newPlan(&l, t, l.Requests)
	if err != nil {
		return sample.Sample{}, err
	}
	c, err := newClient(t)
	if err != nil {
		return sample.Sample{}, err
	}
	defer c.close()
	clock := conn.NewClock(conn.WallClock)
	s := newWorker(c, &l, clock, nil).do(ctx, pl.build(0), 0, false)
	return s, complete(finished{&s, r.Check}, &l, clock, c.secrets)
}

// A Client sends single requests to a target, each when its caller says so. It is for programs that
// decide themselves when a request is sent, such as other load generators; [Run] and [Pass] send
// whole loads. It keeps connections for reuse, as they do, and is safe for concurrent use.
//
// The instants of its samples count from its creation. t0 of a request is the instant at which [Client.Do]
// was called, so that samples are those of an open loop. A Client does not judge whether the client
// distorted a figure; [sample.Sample].Lags say how late it read each delta.
type Client struct {
	client *client
	load   Load
	clock  conn.Clock
	flight audit.Flight

	ending atomic.Int64 // requests that have ended, or are about to, and whose samples are not kept yet

	mu      sync.Mutex
	records *book // nil: no records are written
	audit   audit.Audit
	sent    int       // requests
	free    []*worker // those without a request
	err     error     // why no request can be sent any more
}

// errClosed is the error of a Client that is closed.
var errClosed = errors.New("the client is closed")

// NewClient returns a client of t. Of l it uses NoStream, Timeout, IdleTimeout, SLO, KeepText and
// Tokenizer; an error names any other field that is set. If LLMBENCH_OUT is set, each sample is written to a
// file of that name when its request has ended. NewClient sends nothing. The client must be closed.
func NewClient(name string, t Target, l Load) (*Client, error) {
	cfg, err := readConfig()
	if err != nil {
		return nil, err
	}
	if cfg.shards.Addr != "" {
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
	return &Client{client: c, load: l, clock: conn.NewClock(c.wall), records: b}, nil
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
func (c *Client) Open(ctx context.Context, n int) { _ = c.client.openAhead(ctx, &c.load, n) } // no error without a concurrency

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
	p, err := newPost(&c.load, c.client.target, r)
	if err != nil {
		return sample.Sample{}, fmt.Errorf("request: %w", err)
	}
	w, err := c.takeWorker(&p)
	if err != nil {
		return sample.Sample{}, err
	}
	s := w.do(ctx, p, c.clock.Now(), true)
	if errors.Is(s.Err, errNotSent) {
		return sample.Sample{}, fmt.Errorf("request: %w", s.Err)
	}
	c.ending.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.ending.Add(-1) == 0
	c.free = append(c.free, w)
	return s, c.keep(finished{&s, p.check}, idle)
}

// takeWorker returns a worker for p, which gets its number.
func (c *Client) takeWorker(p *post) (*worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	p.request = c.sent
	c.sent++
	if n := len(c.free); n > 0 {
		w := c.free[n-1]
		c.free = c.free[:n-1]
		return w, nil
	}
	return newWorker(c.client, &c.load, c.clock, &c.flight), nil
}

// keep completes a sample and writes its record; the operating system has the record if idle is
// set. The caller has locked c.mu.
func (c *Client) keep(f finished, idle bool) error {
	panicked := complete(f, &c.load, c.clock, c.client.secrets)
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
	c.client.close()
	err := c.err
	if wrong := c.audit.Check(&c.flight, 0); err == nil && wrong != nil {
		err = fmt.Errorf("the samples contradict themselves: %w", wrong)
	}
	end := records.End{Outcome: records.EndedOK}
	if failed := cmp.Or(err, why); failed != nil {
		end = records.End{Outcome: records.EndedFailed, Why: c.client.target.Redact(failed.Error())}
	}
	c.err = errClosed
	return cmp.Or(err, c.records.close(end))
}
