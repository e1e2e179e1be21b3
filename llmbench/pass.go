package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

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
	p := process.Join(cmp.Or(name, "a single pass"))
	m, err := setUp(p, t, l)
	if err != nil {
		return nil, p.Fail(err)
	}
	defer func() {
		if result == nil {
			m.samples.Close()
		}
	}()
	defer m.close()
	if l.Fresh != nil {
		return nil, p.Fail(errors.New("load: Fresh for a single pass; want Requests or Lazy"))
	}
	pl, err := m.load.plan(t)
	if err != nil {
		return nil, p.Fail(err)
	}
	if err := m.beginRecords(name); err != nil {
		return nil, p.Fail(err)
	}
	defer func() {
		if closeErr := m.endRecords(); closeErr != nil {
			result, err = nil, errors.Join(err, p.Fail(closeErr))
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
	if m.party.Leads() {
		c, err = m.checkSingle(r.ClockChange)
	} else if m.bound != BoundReported {
		_, err = m.distortion(nil, nil)
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
	f := judge.FindFacts(m.all(), m.elapsed, m.load.SLO, m.load.MaxFail)
	if m.load.Figures != nil {
		f.Summary.Add(m.load.Figures(m.all()))
	}
	v, err := m.judge(f.Summary.Metrics, f.Bursts)
	if err != nil {
		return c, err
	}
	c.Bursts, c.Withheld = v.bursts, v.Withheld
	switch {
	case len(v.client.Distorted) > 0:
		c.Client = v.client.Text(true)
	case clockChange != 0:
		c.Client = fmt.Sprintf("the wall clock was set by %v during the pass, so that the distortion by the client is unknown", clockChange)
	case v.client.Unknown != "":
		c.Client = "the distortion by the client is unknown: " + v.client.Unknown
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
	return process.Common{Err: errors.Join(all...)}
}

// An explained error is one whose text has all.
type explained struct {
	error
	text string
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.error }
