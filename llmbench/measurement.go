package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A measurement is what [Run] and [Pass] share. Its steps are: set up, prepare, passes, and the
// judgement of which figures the client distorted.
type measurement struct {
	cfg     config
	load    Load
	bound   ClientBound
	client  *client
	local   bool        // the server is part of this process
	control *control    // nil: the client's distortion is not measured
	records *book       // nil: no records are written
	crew    *crew       // nil: this process measures alone
	end     records.End // of the records

	samples  *store.Store  // of all passes
	elapsed  time.Duration // sum over passes
	ownTime  time.Duration // the same of the requests of this process
	estimate distortion.Estimate
	hidden   []string // units that mean nothing because answers come in bursts
	withheld []withholding
	prompts  prompts // of all passes
}

// setUp checks the configuration, the target and the load. It sends nothing. The measurement
// must be closed, and its samples.
func setUp(t Target, l Load) (*measurement, error) {
	cfg, err := readConfig()
	if err != nil {
		return nil, err
	}
	if l, err = l.check(); err != nil {
		return nil, err
	}
	c, err := newClient(t)
	if err != nil {
		return nil, err
	}
	last := BoundWithheld
	if t.Simulated {
		last = BoundReported
	}
	bound := cmp.Or(l.ClientBound, cfg.bound, last)
	return &measurement{cfg: cfg, load: l, bound: bound, client: c, local: t.Simulated, samples: store.New(store.Bound, cfg.out)}, nil
}

// joins makes m the measurement of a crew, or of this process alone if c is nil.
func (m *measurement) joins(c *crew) { m.crew, m.load.digest = c, c != nil }

// close closes the connections, and the control if there is one.
func (m *measurement) close() {
	if m.control != nil {
		m.control.close()
	}
	m.client.close()
}

// beginRecords begins the file of records if the environment asks for records. The end of the
// file says that the measurement panicked, until another end is set.
func (m *measurement) beginRecords(name string) (err error) {
	m.end = records.End{Outcome: records.EndedFailed, Why: "the benchmark panicked"}
	if !m.crew.leads() {
		return nil
	}
	m.records, err = newBook(m.cfg, name, m.client.target, m.load)
	return err
}

// endRecords writes the end of the file of records.
func (m *measurement) endRecords() error { return m.records.close(m.end) }

// fail makes err the end of the records. It returns err with the name of the file.
func (m *measurement) fail(err error) error {
	err = m.crew.fail(err)
	m.end.Outcome, m.end.Why = records.EndedFailed, err.Error()
	return fmt.Errorf("%w%s", err, where(m.records))
}

// begin checks that all shards are to make the same measurement.
func (m *measurement) begin() error {
	if m.crew == nil {
		return nil
	}
	if m.client.target.Simulated {
		return errors.New("the server is part of this process, and the other shards cannot reach it: want LLMBENCH_URL")
	}
	if err := m.crew.agree("begin", m.facts()...); err != nil {
		return err
	}
	run, err := m.crew.Share(m.crew.name(" ids"), []byte(m.client.runID))
	m.client.runID = string(run) // so that requests have the ids that one process would give them
	return err
}

// facts are what must be the same in all processes that measure together.
func (m *measurement) facts() (facts []shard.Fact) {
	add := func(name string, value any) { facts = append(facts, shard.Fact{Name: name, Value: fmt.Sprint(value)}) }
	t, l := m.client.target, &m.load
	add("server", t.Where())
	add("model", t.Model)
	for key, value := range t.config() {
		add(key, value)
	}
	slices.SortFunc(facts[2:], func(a, b shard.Fact) int { return cmp.Compare(a.Name, b.Name) })
	add("concurrency", l.Concurrency)
	if l.Arrivals != nil {
		add("arrivals", l.Arrivals.Name())
		add("parameters of arrivals", l.Arrivals.Parameters()) // fmt sorts the keys
	}
	add("most in flight", l.MaxInFlight)
	add("stagger", l.Stagger)
	add("stream", !l.NoStream)
	add("limits of requests and passes", []time.Duration{l.Timeout, l.IdleTimeout, l.PassTimeout})
	add("clients that leave", l.Cancel)
	add("tolerated failures", l.MaxFail)
	add("SLO", l.SLO)
	add("distortion", fmt.Sprint(l.MaxDistortion, m.bound))
	add("requests of the warm-up", len(l.Warmup))
	return facts
}

// prepare sends the warm-up, and starts a control if withControl is set.
func (m *measurement) prepare(ctx context.Context, withControl bool) error {
	pace, err := m.warmUp(ctx)
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if withControl {
		m.control, err = newControl(pace, m.client.at.Socket != "")
	}
	return err
}

// warmUp sends the requests of the warm-up. It returns the median gap between their deltas, or
// 0 without any.
func (m *measurement) warmUp(ctx context.Context) (pace time.Duration, err error) {
	if len(m.load.Warmup) == 0 {
		return 0, nil
	}
	pl, err := newPlan(&m.load, m.client.target, m.load.Warmup)
	if err != nil {
		return 0, err
	}
	process.sent.Add(m.client.target.Where(), pl.openings)
	samples := store.New(store.Bound, m.cfg.out)
	defer samples.Close()
	r, err := m.send(ctx, "warm-up", pl, nil, outlet{samples: samples})
	if err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	pace = medianGap(r.Samples)
	if err := samples.Err(); err != nil { // not all samples can be read
		return 0, err
	}
	if text := tooManyFailed(r.Samples, m.load.MaxFail); text != "" {
		err = errors.New(text)
	}
	return pace, m.crew.verdict(err)
}

// send sends the requests of pl, or this process's part of them if others send the rest.
func (m *measurement) send(ctx context.Context, what string, pl *plan, k *control, o outlet) (passResult, error) {
	if o.crew = m.crew; m.crew != nil {
		if err := m.crew.agree(what, shard.Fact{Name: "requests", Value: pl.digest}); err != nil {
			return passResult{}, err
		}
		pl.divide(m.crew.Part, &m.load)
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(m.crew.Context(), func() { cancel(m.crew.Err()) })()
	}
	r, err := m.client.pass(ctx, &m.load, pl, k, o)
	if err == nil && ctx.Err() == nil {
		err = m.crew.check(pl, r.Samples)
	}
	if err == nil && m.bound != BoundReported {
		err = m.crew.checkStart(r.late)
	}
	return r, err
}

// pass sends the requests of pl as the pass of that number, and writes their records, also those
// of a pass that failed. A pass that was given up because ctx ended has failed, whatever the load
// tolerates.
func (m *measurement) pass(ctx context.Context, number int, pl *plan) (passResult, error) {
	m.prompts.add(m.client.target, pl)
	r, err := m.send(ctx, fmt.Sprintf("pass %d", number), pl, m.control, outlet{pass: number, samples: m.samples, records: m.records})
	if err == nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// add adds a successful pass to the result.
func (m *measurement) add(r passResult) {
	lockstep.Range(r.Samples,
		func(samples iter.Seq[*sample.Sample]) { m.elapsed += sample.Elapsed(samples) },
		func(samples iter.Seq[*sample.Sample]) { m.ownTime += sample.Elapsed(m.crew.own(samples)) },
		func(samples iter.Seq[*sample.Sample]) {
			p := r.Pass
			p.Samples = m.crew.own(samples)
			m.estimate.Add(p)
		})
}

// all ranges over the samples of all passes.
func (m *measurement) all() iter.Seq[*sample.Sample] { return m.samples.Between(0, m.samples.End()) }

// result returns the result of all passes. Its samples are those of the measurement.
func (m *measurement) result() *Result {
	return &Result{Elapsed: m.elapsed, Bounds: m.end.Bounds, samples: m.samples}
}

// shown reports whether the figure of a unit is reported.
func (m *measurement) shown(u sample.Unit) bool {
	return (u.Core || m.cfg.allUnits || slices.ContainsFunc(m.load.Units, named(u.Name))) && (u.Name != "fail-%" || m.load.MaxFail > 0)
}

// figures computes the figures of samples, whose passes took that long in sum, and the load's
// own figures. The samples may be shared with others who range over them at the same time.
func (m *measurement) figures(samples iter.Seq[*sample.Sample], elapsed time.Duration) (figures, more map[string]float64) {
	if m.load.Figures != nil {
		more = m.load.Figures(copies(samples))
	}
	return sample.Summarize(samples, elapsed, m.load.SLO).Metrics, more
}

// copies ranges over copies of samples, which the caller may keep and change.
func copies(samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] {
	return func(yield func(*sample.Sample) bool) {
		for s := range samples {
			one := *s
			one.Gaps, one.Lags, one.Merged = slices.Clone(s.Gaps), slices.Clone(s.Lags), slices.Clone(s.Merged)
			if !yield(&one) {
				return
			}
		}
	}
}

// judge sets client-err-% in metrics if the client's distortion is known. Unless distorted
// figures are reported, it removes them from metrics and calls load.Withheld. The report says
// which figures are distorted too much.
func (m *measurement) judge(metrics map[string]float64) (distortion.Report, error) {
	r, err := m.report(metrics)
	if err != nil {
		return r, err
	}
	if r.Unknown == "" {
		m.end.Bounds = r.Bounds(metrics)
		maps.DeleteFunc(m.end.Bounds, func(unit string, i sample.Interval) bool { // JSON has no number for +Inf
			return slices.Contains(m.hidden, unit) || !finite(i.Low) || !finite(i.Likely) || !finite(i.High)
		})
		metrics[sample.ClientError] = 100 * r.Worst
	}
	units := r.Units()
	if len(units) == 0 || m.bound == BoundReported {
		return r, nil
	}
	m.end.Withheld = units
	m.withhold(metrics, units, ErrClientBound)
	return r, nil
}

// report says by how much this process distorted the figures in metrics. If several processes
// made the measurement, it says at shard 0 by how much the worst of them distorted the figures of
// its own requests.
func (m *measurement) report(metrics map[string]float64) (distortion.Report, error) {
	known := func(u sample.Unit) bool { return m.shown(u) && !slices.Contains(m.hidden, u.Name) }
	judge := func() distortion.Report {
		return m.estimate.Report(m.crew.own(m.all()), m.figures, m.load.units(), metrics, m.load.MaxDistortion, known)
	}
	if m.crew == nil {
		return judge(), nil
	}
	var err error
	if m.hidden, err = m.crew.hide(m.hidden); err != nil {
		return distortion.Report{}, err
	}
	own, more := m.figures(m.crew.own(m.all()), m.ownTime)
	maps.Copy(own, more)
	metrics = own
	return m.crew.reports(judge())
}

// judgeBursts returns an error that wraps ErrBursts if b says that answers came in bursts because something
// between the server and the client buffers streams. Unless distorted figures are reported, it
// removes the figures that then mean nothing from metrics and calls load.Withheld. It must be
// called before judge, so that the client is not blamed for these figures. Nothing is between the
// client and a server that is part of this process.
func (m *measurement) judgeBursts(metrics map[string]float64, b sample.Bursts) error {
	if m.local {
		return nil
	}
	units := slices.DeleteFunc(m.load.units(), func(u sample.Unit) bool {
		_, known := metrics[u.Name]
		return !known || !m.shown(u)
	})
	if m.hidden = b.Hide(units, m.load.SLO); len(m.hidden) == 0 {
		return nil
	}
	end := "mean nothing"
	if m.bound != BoundReported {
		m.end.Buffered = m.hidden
		m.withhold(metrics, m.hidden, ErrBursts)
		end = "mean nothing and are left out"
	}
	return fmt.Errorf("%w: %v: something between buffers the stream (nginx: proxy_buffering off)\n  %s %s", ErrBursts, b, strings.Join(m.hidden, ", "), end)
}

// withhold removes the figures of units from metrics, and tells the load why.
func (m *measurement) withhold(metrics map[string]float64, units []string, why error) {
	for _, unit := range units {
		delete(metrics, unit)
	}
	m.tellWithheld(withholding{units, why == ErrBursts})
}

// tellWithheld keeps a withholding, and tells the load.
func (m *measurement) tellWithheld(w withholding) {
	m.withheld = append(m.withheld, w)
	why := ErrClientBound
	if w.Bursts {
		why = ErrBursts
	}
	if m.load.Withheld != nil {
		m.load.Withheld(w.Units, why)
	}
}

// conclude gives all processes the conclusion, the samples, the elapsed time and the bounds of shard 0.
func (m *measurement) conclude(c conclusion) (conclusion, error) {
	if m.crew == nil {
		return c, nil
	}
	c.Elapsed, c.Withheld, c.Bounds = m.elapsed, m.withheld, m.end.Bounds
	if m.crew.leads() {
		c, err := m.crew.conclude(c, m.all(), nil)
		return c, cmp.Or(err, m.samples.Err())
	}
	all := store.New(store.Bound, m.cfg.out)
	c, err := m.crew.conclude(c, nil, all.Add)
	m.samples.Close() // the file of this process's own samples, which are among all
	m.samples, m.elapsed, m.end.Bounds = all, c.Elapsed, c.Bounds
	if err != nil {
		return c, err
	}
	for _, w := range c.Withheld {
		m.tellWithheld(w)
	}
	return c, nil
}

// prompts are what is known of the prompts of all passes.
type prompts struct {
	all      int
	passes   int  // so many
	repeated int  // begin like one that the process has sent before
	last     Lazy // those of the last pass
}

// add adds the prompts of a pass, before they are sent.
func (p *prompts) add(t Target, pl *plan) {
	p.passes++
	p.all += len(pl.openings)
	p.repeated += process.sent.Add(t.Where(), pl.openings)
	p.last = pl.source
}

// Facts are what the samples of all passes say, before figures are judged.
type facts struct {
	summary  sample.Summary
	failures string // see describeFailed
	bursts   sample.Bursts
	excess   string
	hidden   int
}

// findFacts finds all facts at once, because samples may have to be read from a file. The passes took
// elapsed in sum.
func findFacts(all iter.Seq[*sample.Sample], elapsed time.Duration, l *Load) (f facts) {
	type samples = iter.Seq[*sample.Sample]
	lockstep.Range(all,
		func(s samples) { f.summary = sample.Summarize(s, elapsed, l.SLO) },
		func(s samples) { f.failures, _ = describeFailed(s, l.MaxFail) },
		func(s samples) { f.bursts = sample.FindBursts(s) },
		func(s samples) { f.excess = excess(s) },
		func(s samples) { f.hidden = hidden(s) })
	return f
}

// excess describes the answers with more output tokens than the request allowed. It returns ""
// without such answers.
func excess(samples iter.Seq[*sample.Sample]) string {
	var first *sample.Sample
	n, all := 0, 0
	for s := range samples {
		all++
		if s.Outcome == sample.OK && s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens {
			if n == 0 {
				first = s
			}
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the server states more output tokens than were allowed in %d of %d requests; the first is %s of pass %d, %d of %d",
		n, all, first.ID, first.Pass, first.OutputTokens, first.MaxTokens)
}

// hidden returns the number of successful answers with reasoning tokens that were not streamed.
func hidden(samples iter.Seq[*sample.Sample]) (n int) {
	for s := range samples {
		if s.Outcome == sample.OK && s.Streamed && s.HidesReasoning() {
			n++
		}
	}
	return n
}

// A Result is what [Run] and [Pass] measured.
type Result struct {
	// Elapsed is the sum over passes of the time from the first t0 to the end of the last
	// response.
	Elapsed time.Duration
	// Bounds are, by unit, the intervals of the true values of the figures that the client's delays can change,
	// also of figures that are withheld. They are nil if these delays are unknown, and if [Pass] did not
	// judge them.
	Bounds map[string]sample.Interval

	samples *store.Store
}

// All ranges over the samples of all passes, in the order in which their requests ended. It may
// be called any number of times before Close. Each sample is a new one, and the caller's. Of
// [sample.Sample].Err only the text remains, so that [errors.Is] finds nothing in it.
//
// Samples that take more than 64 MiB are in a file, in the folder LLMBENCH_OUT or in the
// folder of [os.TempDir]. A range ends early if the file cannot be read; see [Result.Err].
func (r *Result) All() iter.Seq[*sample.Sample] { return r.samples.Between(0, r.samples.End()) }

// Err returns why a range over samples ended early, or nil.
func (r *Result) Err() error { return r.samples.Err() }

// Close removes the file of the samples, if there is one. A result without a file need not be
// closed. Close may be called again.
func (r *Result) Close() error { return r.samples.Close() }
