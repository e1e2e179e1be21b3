package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/control"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A measurement is the state and the steps that [Run] and [Pass] share. The steps, in order, are: setUp,
// begin, prepare, one or more passes, and conclude.
type measurement struct {
	cfg      process.Config
	target   Target
	load     Load
	bound    ClientBound
	client   *send.Client
	control  *control.Control // sends control streams; nil if the client's delays are not measured
	records  *book
	party    process.Party
	end      records.End      // the end of the file of records
	withheld map[string]error // see [Result].Withheld

	samples  *store.Store  // of all passes so far
	elapsed  time.Duration // sum over passes
	warm     time.Duration // median E2E latency of the warm-up
	ownTime  time.Duration // like elapsed, but only for the requests that this process sent
	estimate distortion.Estimate
	prompts  prompts         // of all passes so far
	anyFail  bool            // any number of requests may fail
	enough   <-chan struct{} // see [send.Pass.Enough]; nil if an interrupted pass is given up
}

// prompts describes the prompts of all passes so far.
type prompts struct {
	all      int
	passes   int    // number of passes
	repeated int    // number of prompts that begin like an earlier prompt of this process
	sessions bool   // some requests are sessions, whose turns repeat the turns before
	last     source // the requests of the last pass
}

// setUp checks the configuration, the target and the load, and returns a new measurement. It sends nothing.
// The caller must close the measurement and its samples.
func setUp(p process.Party, t Target, l Load) (*measurement, error) {
	cfg, err := process.ReadConfig()
	if err != nil {
		return nil, err
	}
	if l, err = l.check(); err == nil {
		l, err = l.withGroups(t.Model)
	}
	if err != nil {
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
	l.digest = !p.Part().Alone()
	return &measurement{
		cfg: cfg, target: t, load: l, party: p, client: c,
		bound:   cmp.Or(l.ClientBound, ClientBound(cfg.ClientBound), last),
		samples: store.New(store.Bound, cfg.Out),
	}, nil
}

// close closes the connections, and stops the control if there is one.
func (m *measurement) close() {
	if m.control != nil {
		m.control.Close()
	}
	m.client.Close()
}

// beginRecords creates the file of records if LLMBENCH_OUT is set. Until another end is set, the file would
// end with the statement that the benchmark panicked.
func (m *measurement) beginRecords(name string) (err error) {
	m.end = records.End{Outcome: records.EndedFailed, Why: "the benchmark panicked"}
	if m.party.Leads() {
		m.records, err = newBook(m.cfg, name, m.target, m.load)
	}
	return err
}

// endRecords writes the end of the records and closes the file.
func (m *measurement) endRecords() error { return m.records.close(m.end) }

// fail sets err as the end of the records. It returns err with the name of the file of records.
func (m *measurement) fail(err error) error {
	err = m.party.Fail(err)
	m.end.Outcome, m.end.Why = records.EndedFailed, m.target.Redact(err.Error())
	return fmt.Errorf("%w%s", err, m.records.where())
}

// begin checks that all processes of the measurement are about to measure the same thing.
func (m *measurement) begin() error {
	if m.target.Simulated && !m.party.Part().Alone() {
		return errors.New("the server is part of this process, and the other shards cannot reach it: want LLMBENCH_URL")
	}
	if err := m.party.Step("begin", m.facts()...); err != nil {
		return err
	}
	id, err := m.party.Share(" ids", []byte(m.client.RunID()))
	m.client.SetRunID(string(id)) // so that requests have the same ids as if one process sent all of them
	return err
}

// facts returns the settings that must be the same in all processes of a measurement.
func (m *measurement) facts() (facts []shard.Fact) {
	add := func(name string, value any) { facts = append(facts, shard.Fact{Name: name, Value: fmt.Sprint(value)}) }
	l := &m.load
	add("server", m.target.Where())
	add("model", m.target.Model)
	for key, value := range m.target.config() {
		add(key, value)
	}
	slices.SortFunc(facts[2:], func(a, b shard.Fact) int { return cmp.Compare(a.Name, b.Name) })
	add("concurrency", l.Concurrency)
	add("users", l.Users)
	add("duration", l.Duration)
	add("time of the warm-up", l.WarmupFor)
	if l.Arrivals != nil {
		add("arrivals", l.Arrivals.Name())
		add("parameters of arrivals", l.Arrivals.Parameters()) // fmt sorts the keys
	}
	add("classes", l.classes())
	add("most in flight", l.MaxInFlight)
	add("stagger", l.Stagger)
	add("stream", !l.NoStream)
	add("limits of requests and passes", []time.Duration{l.Timeout, l.IdleTimeout, l.PassTimeout})
	add("clients that leave", l.Cancel)
	add("tolerated failures", l.MaxFail)
	add("tolerated shedding", l.MaxShed)
	add("SLO", l.SLO)
	add("distortion", fmt.Sprint(l.MaxDistortion, m.bound))
	add("requests of the warm-up", len(l.Warmup))
	return facts
}

// prepare sends the warm-up. If withControl is set, it also starts the control, which measures the client's
// delays during the passes.
func (m *measurement) prepare(ctx context.Context, withControl bool) error {
	pace, err := m.warmUp(ctx)
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if withControl {
		m.control, err = control.New(pace, m.target.overUnixSocket())
	}
	return err
}

// warmUp sends the requests of the warm-up. It returns the median gap between the deltas of their answers,
// or 0 if there are no gaps.
func (m *measurement) warmUp(ctx context.Context) (pace time.Duration, err error) {
	if len(m.load.Warmup) == 0 {
		return 0, nil
	}
	err = m.aside(ctx, "warm-up", varied(m.load.Warmup), func(samples iter.Seq[*sample.Sample]) {
		pace, m.warm = medianGap(samples), medianE2E(samples)
	})
	return pace, err
}

// prime sends what the server should have in its prefix cache when the pass begins; see [Request].Skip.
func (m *measurement) prime(ctx context.Context, number int, pl *plan) error {
	var primers []Request
	for _, c := range pl.loops() {
		for i := range c.source.n {
			if r := c.source.at(i); r.Skip > 0 {
				primers = append(primers, r.primer())
			}
		}
	}
	if len(primers) == 0 {
		return nil
	}
	if err := m.aside(ctx, fmt.Sprintf("beginnings of sessions of pass %d", number), primers, func(iter.Seq[*sample.Sample]) {}); err != nil {
		return fmt.Errorf("the beginnings of sessions: %w", err)
	}
	return nil
}

// aside sends requests that are not measured. It passes their samples to use.
func (m *measurement) aside(ctx context.Context, what string, requests []Request, use func(iter.Seq[*sample.Sample])) error {
	pl, err := newPlan(&m.load, m.target, requests)
	if err != nil {
		return err
	}
	process.Sent(m.target.Where(), pl.openings)
	m.target.countAside(pl.samples, "completions of warm-ups")
	samples := store.New(store.Bound, m.cfg.Out)
	defer samples.Close()
	r, err := m.send(ctx, what, pl, outlet{samples: samples})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %s", context.Cause(ctx), judge.Interrupted(r.samples))
	}
	use(r.samples)
	if err := samples.Err(); err != nil { // not all samples can be read
		return err
	}
	if text := cmp.Or(judge.MixedUp(r.samples), judge.TooManyFailed(r.samples, m.load.tolerated())); text != "" {
		err = errors.New(text)
	}
	return process.Agreed(m.party, err)
}

// medianGap returns the median gap between deltas of the samples, or 0 if there are no gaps.
func medianGap(samples iter.Seq[*sample.Sample]) time.Duration {
	var all []time.Duration
	for s := range samples {
		all = append(all, s.Gaps...)
	}
	return median(all)
}

// medianE2E returns the median E2E latency of the samples, or 0 if there are none.
func medianE2E(samples iter.Seq[*sample.Sample]) time.Duration {
	var all []time.Duration
	for s := range samples {
		all = append(all, s.End-s.Start)
	}
	return median(all)
}

// median sorts all and returns the median, the upper one of two, or 0 if there are no values.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// An outlet says where the samples of a pass are stored and recorded.
type outlet struct {
	pass    int // the number of the pass
	samples *store.Store
	records *book
	control *control.Control // sends control streams during the pass; nil if there are none
	enough  <-chan struct{}  // see [send.Pass.Enough]
}

// A passResult is the result of a pass.
type passResult struct {
	send.Result
	samples  iter.Seq[*sample.Sample] // in the order in which requests ended; nil if the pass did not begin
	errors   distortion.Errors        // the measured delays of control streams
	silences map[int]time.Duration    // by process, how long nothing was received from it, if that was long
	place    priority.Place           // of this process's threads at the end of the pass
	whyPlace string                   // why place is not what it was at the beginning; "" if it is
}

// send sends the requests of pl. If several processes measure together, it sends only this process's part
// of them. If the error is not nil and there are samples, the samples contradict each other, or some of
// them could not be stored.
func (m *measurement) send(ctx context.Context, what string, pl *plan, o outlet) (r passResult, err error) {
	if err := m.party.Step(what, shard.Fact{Name: "requests", Value: pl.digest}); err != nil {
		return r, err
	}
	p := pl.pass(m.party.Part(), &m.load)
	ctx, cancel := m.party.During(ctx)
	defer cancel()
	begin := o.samples.End()
	if m.anyFail {
		p.MostFailed = -1
	}
	p.Number, p.Enough, p.With, p.Keep = o.pass, o.enough, m.party, func(s *sample.Sample, idle bool) error { return m.keep(o, s, idle) }
	if o.control != nil {
		p.Beside = o.control
	}
	var began bool
	if r.Result, began, err = m.client.Pass(ctx, p); !began {
		return r, err
	}
	if o.control != nil {
		r.errors = o.control.Errors()
	}
	r.silences = m.party.Silences()
	r.samples = o.samples.Between(begin, o.samples.End())
	if err = m.party.EndPass(ctx, err); err != nil || ctx.Err() != nil {
		return r, err
	}
	if err := m.verify(pl, r.samples); err != nil || m.bound == BoundReported {
		return r, err
	}
	return r, m.party.CheckStart(r.Late)
}

// verify returns an error at the leader unless the processes have sent the requests that they should have sent.
func (m *measurement) verify(pl *plan, samples iter.Seq[*sample.Sample]) error {
	if pl.duration == 0 || m.party.Part().Alone() || !m.party.Leads() {
		return m.party.Verify(samples, pl.requests, pl.samplesOf)
	}
	part := m.party.Part()
	loops := pl.loops()
	sent := map[int]bool{}
	n := 0                           // requests from this one on were not sent
	first := make([]int, len(loops)) // the same by class, among the requests of the class
	for s := range samples {
		class := s.Request % len(loops)
		sent[s.Request], n, first[class] = true, max(n, s.Request+1), max(first[class], s.Request/len(loops)+1)
	}
	ended := make([][]bool, len(loops)) // by class and process: it has sent no more
	for i, c := range loops {
		for c.requests < first[i] { // this process may have drawn fewer than another one
			if more, err := c.draw(); err != nil {
				return err
			} else if !more {
				break
			}
		}
		ended[i] = make([]bool, max(1, part.Count))
	}
	for i, c := range loops {
		if c.due != nil { // all are sent
			n = max(n, (c.requests-1)*len(loops)+i+1)
		}
	}
	if pl.classes == nil {
		n = min(n, pl.requests)
	}
	return m.party.Verify(samples, n, func(i int) int {
		class, k := i%len(loops), i/len(loops)
		c := loops[class]
		over := &ended[class][part.Owner(k, c.load.Concurrency)]
		if *over = *over || c.due == nil && !sent[i] || k >= c.requests; *over {
			return 0
		}
		return c.samplesOf(k)
	})
}

// keep writes the record of a sample, sends the sample to the leader if that is another process, and stores
// it. The argument idle says that no other sample is waiting.
func (m *measurement) keep(o outlet, s *sample.Sample, idle bool) error {
	if err := o.records.write(s, idle); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if err := m.party.Relay(s, idle); err != nil {
		return err
	}
	return o.samples.Add(s)
}

// pass sends the requests of pl as the pass with the given number, and writes their records, even if the
// pass fails. If ctx ended during the pass, the pass has failed, whatever the load tolerates.
func (m *measurement) pass(ctx context.Context, number int, pl *plan) (passResult, error) {
	if pl.duration == 0 {
		m.count(pl, []int{len(pl.openings)})
	}
	hold := priority.Take(m.target.place(m.cfg))
	defer hold.Release() // also if a function of the load ends the goroutine
	r, err := m.send(ctx, fmt.Sprintf("pass %d", number), pl, outlet{number, m.samples, m.records, m.control, m.enough})
	r.place, r.whyPlace = hold.Release()
	if pl.duration > 0 && r.samples != nil {
		sent := make([]int, len(pl.loops()))
		for s := range process.Own(m.party, r.samples) {
			sent[s.Request%len(sent)]++
		}
		m.count(pl, sent)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// count adds the first prompts of each class of pl, or of pl, which this process sends, to the prompts of all passes.
func (m *measurement) count(pl *plan, sent []int) {
	m.prompts.passes++
	last := math.MaxInt
	for i, c := range pl.loops() {
		n := min(sent[i], len(c.openings))
		m.prompts.all += n
		m.prompts.repeated += process.Sent(m.target.Where(), c.openings[:n])
		m.prompts.sessions = m.prompts.sessions || c.samples > c.requests
		last = min(last, c.sent(n))
	}
	m.prompts.last = source{last * len(sent), pl.source.at}
}

// add adds a successful pass to the totals of the measurement.
func (m *measurement) add(r passResult) {
	own := func(samples iter.Seq[*sample.Sample]) iter.Seq[*sample.Sample] { return process.Own(m.party, samples) }
	lockstep.Range(r.samples,
		func(samples iter.Seq[*sample.Sample]) { m.elapsed += sample.Elapsed(samples) },
		func(samples iter.Seq[*sample.Sample]) { m.ownTime += sample.Elapsed(own(samples)) },
		func(samples iter.Seq[*sample.Sample]) {
			var stays [][][]arrivals.Stay
			for _, l := range m.load.loops() {
				stays = append(stays, l.partStays(m.party.Part()))
			}
			m.estimate.Add(distortion.Pass{
				Samples: own(samples), Stays: stays,
				LateTurns: r.LateTurns, Errors: r.errors, Strain: r.Strain, ClockSet: r.ClockChange != 0,
			})
		})
}

// all returns an iterator over the samples of all passes.
func (m *measurement) all() iter.Seq[*sample.Sample] { return m.samples.Between(0, m.samples.End()) }

// shown reports whether the result includes the metric of a unit.
func (m *measurement) shown(u sample.Unit) bool {
	_, own := sample.Find(m.load.Units, u.Name)
	return (u.Core || m.cfg.AllUnits || own) && (u.Name != sample.FailShare || m.load.MaxFail > 0)
}

// result returns the result of all passes. The result shares the samples of the measurement.
func (m *measurement) result() *Result {
	return &Result{Elapsed: m.elapsed, Bounds: m.end.Bounds, Withheld: m.withheld, samples: m.samples}
}
