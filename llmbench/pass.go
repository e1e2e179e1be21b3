package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

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
// wraps [ErrClientBound] and names the units; the result is returned with it. The error wraps
// ErrClientBound, too, if the distortion is unknown: the wall clock was set during the pass, or
// the kernel gives no timestamps and fewer than five control streams were measured.
//
// If answers came in bursts, the error wraps [ErrBursts] and names the units that then mean
// nothing, times to and between the deltas of answers; the result is returned with it. E2E
// latencies, rates and counts are right, unless the error wraps ErrClientBound as well.
//
// With [BoundReported] neither is judged. That is the default for a target that is
// Simulated, because the distortion cannot be measured in a bubble of testing/synctest.
func Pass(ctx context.Context, name string, t Target, l Load) (result *Result, err error) {
	if process.shards() > 0 {
		return nil, errors.New("a single pass, such as one of a search, is made by one process: want no LLMBENCH_RENDEZVOUS")
	}
	m, err := setUp(t, l)
	if err != nil {
		return nil, err
	}
	defer func() {
		if result == nil {
			m.samples.Close()
		}
	}()
	defer m.close()
	if l.Fresh != nil {
		return nil, errors.New("load: Fresh for a single pass; want Requests or Lazy")
	}
	pl, err := m.load.plan(t)
	if err != nil {
		return nil, err
	}
	if err := m.beginRecords(name); err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := m.endRecords(); closeErr != nil {
			result, err = nil, errors.Join(err, closeErr)
		}
	}()
	if err := m.single(ctx, pl); err != nil {
		err = m.fail(err)
		if !errors.Is(err, ErrClientBound) && !errors.Is(err, ErrBursts) {
			return nil, err
		}
		return m.result(), err
	}
	m.end.Outcome, m.end.Why = records.EndedOK, ""
	return m.result(), nil
}

// single makes the one pass of a measurement.
func (m *measurement) single(ctx context.Context, pl *plan) error {
	if err := m.prepare(ctx, m.bound != BoundReported); err != nil {
		return err
	}
	r, err := m.pass(ctx, 0, pl)
	if err != nil {
		return err
	}
	m.add(r)
	bound := m.checkSingle(r.clockChange)
	return cmp.Or(m.samples.Err(), bound)
}

// checkSingle returns an error that wraps ErrClientBound if the client distorted the one pass,
// or if that is unknown, and that wraps ErrBursts if answers came in bursts. The wall clock was
// set by clockChange during the pass.
func (m *measurement) checkSingle(clockChange time.Duration) error {
	if m.bound == BoundReported {
		return nil
	}
	f := findFacts(m.all(), m.elapsed, &m.load)
	metrics := f.summary.Metrics
	bursts := m.judgeBursts(metrics, f.bursts)
	d, err := m.judge(metrics)
	if err != nil {
		return err
	}
	var client error
	switch {
	case len(d.Units) > 0:
		client = fmt.Errorf("%w: %s", ErrClientBound, d.Text)
	case clockChange != 0:
		client = fmt.Errorf("%w: the wall clock was set by %v during the pass, so that the distortion by the client is unknown", ErrClientBound, clockChange)
	case d.Unknown != "":
		client = fmt.Errorf("%w: the distortion by the client is unknown: %s", ErrClientBound, d.Unknown)
	}
	return errors.Join(client, bursts)
}

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
	return newWorker(c, &l, conn.NewClock(conn.WallClock), nil).do(ctx, pl.build(0), 0, false), nil
}
