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

// Pass measures t under l once, without a benchmark. Like [Run], it sends the warm-up and then one pass
// over the requests of l. Pass is for searches, in which one op consists of many passes with different
// loads. The result has the samples of the pass, and should be closed. [sample.Summarize] computes metrics
// from samples. If LLMBENCH_OUT is set, the records of the samples are written to a file named after name,
// whether or not the pass succeeds. A benchmark that calls Pass instead of Run also calls [Announce], and functions of
// package harness.
//
// Failed requests are samples like any other, however many there are: l.MaxFail applies only to the
// warm-up. The result is nil, and the error not nil, if the pass could not be made, if its samples
// contradict each other, or if ctx ended.
//
// An error that wraps [ErrClientBound], [ErrBursts], [ErrUnread] or [ErrIdle] comes with a result. The errors mean the
// following.
//
// ErrClientBound means that the client may have distorted a metric by more than l.MaxDistortion, or that
// the distortion is unknown. In the first case, the error names the units: core units, or units of l.Units.
// The field Bounds of the result then says whether the distortion can change a conclusion. In the second
// case, the field Bounds is nil. The distortion is unknown if the wall clock was set during the pass. It is
// also unknown if the kernel gives no timestamps and fewer than five control streams were measured. Control
// streams come from a server in this process, which knows when it sent each token, and show how late the
// client reads.
//
// ErrBursts means that answers came in bursts. The error names the units that mean nothing in this case,
// which are times to deltas and between deltas. E2E latencies, rates and counts are right, unless the error
// also wraps ErrClientBound.
//
// ErrUnread means that answers have members that their dialect does not know, and that may have text. The error
// names these members, and the units that mean nothing, which are the same as for ErrBursts.
//
// ErrIdle means that the users of l had no sessions for longer than l.LeastCoverage allows. Rates and latencies are then of
// another load than was asked for.
//
// With [BoundReported], Pass checks none of this. BoundReported is the default for
// a target that is Simulated, because the distortion cannot be measured in a bubble of testing/synctest.
//
// If several processes measure together, all of them must make the same passes in the same order. Each
// process sends its part of the requests. Result and error are the same in all of them, so all of them
// choose the same next step of a search.
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
	if l.draws() {
		return nil, p.Fail(errors.New("load: Fresh or More for a single pass: want Requests"))
	}
	pl, err := passPlan(&m.load, t, 0)
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
	defer func() {
		n := 0
		for range m.all() {
			n++
		}
		t.countAside(n, "completions of passes before a result, such as the steps of a search")
	}()
	if err := m.single(ctx, name, pl); err != nil {
		err = m.fail(err)
		if !errors.Is(err, ErrClientBound) && !errors.Is(err, ErrBursts) && !errors.Is(err, ErrUnread) && !errors.Is(err, ErrIdle) {
			return nil, err
		}
		if m.bound == BoundWithheld && m.end.Bounds != nil && !errors.Is(err, ErrBursts) && !errors.Is(err, ErrUnread) && !errors.Is(err, ErrIdle) { // other metrics are valid
			m.end.Outcome, m.end.Why = records.EndedOK, ""
		}
		return m.result(), err
	}
	m.end.Outcome, m.end.Why = records.EndedOK, ""
	return m.result(), nil
}

// single makes the only pass of a measurement by [Pass].
func (m *measurement) single(ctx context.Context, name string, pl *plan) error {
	if err := m.begin(); err != nil {
		return err
	}
	if err := m.prepare(ctx, m.bound != BoundReported); err != nil {
		return err
	}
	if err := m.prime(ctx, 0, pl); err != nil {
		return err
	}
	m.anyFail = true
	var r passResult
	err := m.hooked(ctx, name, 0, func() (err error) {
		r, err = m.pass(ctx, 0, pl)
		return err
	})
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

// checkSingle judges the only pass of a measurement. It describes how the client distorted the pass, or why
// the distortion is unknown, and how the answers came in bursts. A description is "" if there is nothing to
// report, or if the load wants no judgement. The argument clockChange is how far the wall clock was set
// during the pass.
func (m *measurement) checkSingle(clockChange time.Duration) (c conclusion, err error) {
	if m.bound == BoundReported {
		return c, nil
	}
	f := judge.FindFacts(m.all(), m.elapsed, m.estimate.Late(), m.load.SLO, m.load.tolerated())
	if m.load.Figures != nil {
		f.Summary.Add(m.load.Figures(m.all()))
	}
	v, err := m.judge(f.Summary.Metrics, f)
	if err != nil {
		return c, err
	}
	c.Bursts, c.Idle, c.Unread, c.Withheld = v.bursts, v.idle, v.unread, v.Withheld
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

// errorOf returns the error of [Pass] for a pass that has a result, or nil.
func errorOf(c conclusion) error {
	var all []error
	if c.Client != "" {
		all = append(all, fmt.Errorf("%w: %s", ErrClientBound, c.Client))
	}
	if c.Bursts != "" {
		all = append(all, explained{ErrBursts, c.Bursts})
	}
	if c.Idle != "" {
		all = append(all, fmt.Errorf("%w: %s", ErrIdle, c.Idle))
	}
	if c.Unread != "" {
		all = append(all, fmt.Errorf("%w: %s", ErrUnread, c.Unread))
	}
	if len(all) == 0 {
		return nil
	}
	return process.Common{Err: errors.Join(all...)}
}

// An explained error has its own text instead of the text of the error that it wraps.
type explained struct {
	error
	text string
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.error }
