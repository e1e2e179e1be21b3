package llmbench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Run measures t under l as benchmark b. The result has the samples of every pass; it is closed
// when the benchmark ends. If several processes measure together, all of them get the samples of
// all.
//
// One op is one pass over the load's requests: it begins with the first send and ends when
// the last response has ended. With -benchtime=1x there is one pass, with 3x the samples of
// three passes are pooled, and with 10s there are as many whole passes as fill ten seconds.
// The warm-up and the opening of connections come before the first pass and are not measured.
//
// Run reports the core units of the catalogue ([Units]), or all of them with LLMBENCH_UNITS=all, instead
// of ns/op. If LLMBENCH_OUT is set, Run writes each request to a file in that folder as soon as
// the request has ended. It fails b as soon as a pass has more failed requests than the load
// tolerates; the records of that pass are written all the same.
//
// Run must be called at most once in a benchmark function, by the benchmark's goroutine. The
// test binary's TestMain must call [Main]; otherwise the results lack the metadata of units and
// the configuration lines.
func Run(b *testing.B, t Target, l Load) *Result {
	b.Helper()
	Watch(b)
	fatal := func(err error) {
		b.Helper()
		process.show(screen.Entry{Benchmark: b.Name(), Notes: []string{"failed: " + err.Error()}})
		b.Fatal(err)
	}
	crew := process.newCrew(b.Name())
	m, err := setUp(t, l)
	if err != nil {
		fatal(crew.fail(err))
	}
	m.joins(crew)
	m.load.tokenized = tokenizedAnswers
	b.Cleanup(func() { m.samples.Close() })
	defer m.close()
	ctx := Context(b)
	if ctx.Err() != nil {
		fatal(crew.fail(context.Cause(ctx)))
	}
	process.warnWithoutMain(b)
	process.addUnits(m.load.Units)
	process.edit(b)
	if err := Announce(b, t); err != nil {
		fatal(crew.fail(err))
	}
	if err := m.beginRecords(b.Name()); err != nil {
		fatal(crew.fail(err))
	}
	defer func() {
		if err := m.endRecords(); err != nil {
			b.Errorf("records: %v", err)
		}
	}()
	if err := m.begin(); err != nil {
		fatal(m.fail(err))
	}
	stop := func() {}
	if n := len(m.load.Warmup); n > 0 {
		stop = process.showPass(screen.Pass{Benchmark: b.Name(), Number: screen.Warmup, Requests: n, Ended: func() int { return int(m.client.ended.Load()) }}, b.Logf)
	}
	err = m.prepare(ctx, true)
	if stop(); err != nil {
		fatal(m.fail(err))
	}
	r := &run{measurement: m, b: b}
	if t.Observe != nil && crew.leads() {
		r.observer = t.Observe()
	}
	for number := 0; ; number++ {
		more, err := crew.more(b)
		if err != nil {
			fatal(m.fail(err))
		}
		if !more {
			break
		}
		if err := r.pass(ctx, number); err != nil {
			fatal(m.fail(fmt.Errorf("pass %d: %w", number, err)))
		}
	}
	if crew.leads() {
		r.publish()
	} else {
		r.follow()
	}
	return m.result()
}

// A run is the measurement of a benchmark.
type run struct {
	*measurement
	b        *testing.B
	observer Observer           // or nil
	figures  map[string]float64 // the observer's, of all passes so far
	notes    []string           // what was logged about the figures
	// uncounted means that the server never counted a part of the last pass: the check of the
	// next one does not wait for that.
	uncounted bool
}

// pass makes one pass and adds it to the measurement.
func (r *run) pass(ctx context.Context, number int) error {
	pl, err := r.plan()
	if err != nil {
		return err
	}
	if r.observer != nil {
		if err := r.observer.Before(ctx); err != nil {
			return fmt.Errorf("before it: %w", err)
		}
	}
	ended := r.client.ended.Load()
	stop := process.showPass(screen.Pass{
		Benchmark: r.b.Name(),
		Number:    number,
		Requests:  pl.samples,
		Ended:     func() int { return int(r.client.ended.Load() - ended) },
	}, r.b.Logf)
	result, err := r.measurement.pass(ctx, number, pl)
	stop()
	if r.observer != nil {
		var observeErr error
		if r.figures, observeErr = r.observer.After(ctx); observeErr != nil {
			if ctx.Err() == nil { // else the pass was given up
				r.tell(records.Note{Kind: records.NoteServer}, "pass %d: figures of the server: %v", number, observeErr)
			}
			r.figures = nil
		}
	}
	if result.clockChange != 0 {
		r.tell(records.Note{Kind: records.NoteClock}, "pass %d: the wall clock was set by %v: of requests that ended later kernel timestamps are not used, instants are those of the client's reads, and the distortion by the client is unknown", number, result.clockChange)
	}
	if err != nil {
		return err
	}
	if result.recorderWait > 0 {
		r.tell(records.Note{Kind: records.NoteRecorder, Doubt: true}, "pass %d: requests waited %v in sum for their records, so that later requests were sent late: the disk, the tokenizer or this machine is too slow for the load", number, result.recorderWait.Round(time.Microsecond))
	}
	for _, shard := range slices.Sorted(maps.Keys(result.silences)) {
		r.note(records.Note{Kind: records.NoteShards, Doubt: true, Text: fmt.Sprintf("pass %d: nothing was heard of %s for %v: its network was down, or its machine had no CPU, and its requests may have waited", number, r.crew.Name(shard), result.silences[shard].Round(100*time.Millisecond))})
	}
	if r.crew.leads() {
		err = r.check(ctx, number, result.Samples)
	}
	if err := r.crew.verdict(err); err != nil {
		return err
	}
	r.add(result)
	return r.samples.Err()
}

// plan returns the requests of the next pass.
func (r *run) plan() (*plan, error) {
	if r.load.Fresh == nil {
		return r.load.plan(r.client.target)
	}
	requests, err := r.load.Fresh(process.nextPass(r.b.Name()))
	if err != nil {
		return nil, err
	}
	if err := r.load.checkCount(len(requests)); err != nil {
		return nil, err
	}
	return newPlan(&r.load, r.client.target, requests)
}

// toleratedMiss is the share by which an open loop's rate may miss the rate that the schedule
// asks for before that is logged.
const toleratedMiss = 0.01

// check compares the samples of a pass with the schedule and with the server's counts, and
// checks that not too many requests failed.
func (r *run) check(ctx context.Context, number int, samples iter.Seq[*sample.Sample]) error {
	var asked, achieved float64
	var scheduled bool
	var own ownCounts
	var failures string
	lockstep.Range(samples,
		func(s iter.Seq[*sample.Sample]) { asked, achieved, scheduled = sample.AchievedRate(s) },
		func(s iter.Seq[*sample.Sample]) { own = countOwn(s) },
		func(s iter.Seq[*sample.Sample]) { failures = tooManyFailed(s, r.load.MaxFail) })
	if scheduled && math.Abs(achieved-asked) > toleratedMiss*asked {
		r.tell(records.Note{Kind: records.NoteRate, Doubt: true}, "pass %d: %.4g requests per second were asked for, and %.4g sent", number, asked, achieved)
	}
	if err := r.samples.Err(); err != nil { // not all samples can be read
		return err
	}
	counter, ok := r.observer.(Counter)
	if !ok {
		r.end.Counts = append(r.end.Counts, own.record(number, unknownCounts))
	} else {
		delay := countsDelay
		if r.uncounted {
			delay = 0
		}
		server, d, err := checkCounts(ctx, counter, own, delay)
		r.end.Counts = append(r.end.Counts, own.record(number, server))
		if err != nil {
			r.tell(records.Note{Kind: records.NoteServer}, "pass %d: counts of the server: %v", number, err)
		}
		if d.fault {
			return errors.New(d.text)
		}
		if d.text != "" {
			units := slices.Sorted(maps.Keys(r.figures)) // the client's figures are right
			r.tell(records.Note{Kind: records.NoteServer, Doubt: len(units) > 0, Units: units}, "pass %d: %s", number, d.text)
		}
		r.uncounted = d.fewer
	}
	if err := own.understated(); err != nil {
		return err
	}
	if text := own.contradiction(); text != "" {
		r.tell(records.Note{Kind: records.NoteTokens, Doubt: true, Units: r.ofTokens()}, "pass %d: %s", number, text)
	}
	if failures != "" {
		return errors.New(failures)
	}
	return nil
}

// publish computes the figures of all passes, withholds those that the client distorted too
// much, and reports the others. It must be called after the last b.Loop, which deletes the
// figures that were reported before.
func (r *run) publish() {
	r.b.Helper()
	f := findFacts(r.all(), r.elapsed, &r.load)
	s := f.summary
	process.setLast(s)
	units := r.load.units()
	if r.load.Figures != nil {
		more := r.load.Figures(r.all())
		if unknown := unknownUnits(units, more); len(unknown) > 0 {
			r.b.Errorf("load: figures %q; want names of Load.Units or of the catalogue", unknown)
		}
		s.Add(more)
	}
	s.Add(r.figures)
	for _, unit := range slices.Sorted(maps.Keys(r.figures)) {
		if v := r.figures[unit]; !finite(v) {
			r.tell(records.Note{Kind: records.NoteServer, Units: []string{unit}}, "%s is left out: the Observer returned %v, want a finite number", unit, v)
		}
	}
	cache := r.judgeCache(s.Metrics)
	if err := r.samples.Err(); err != nil {
		r.b.Fatal(r.fail(err))
	}
	r.end.Outcome, r.end.Why = records.EndedOK, ""
	if r.crew != nil {
		r.end.ClockBound = r.crew.bound
	}
	if r.crew != nil { // first, because the testing package cuts long logs
		r.note(records.Note{Kind: records.NoteShards, Text: fmt.Sprintf("%d shards sent the requests; their clocks agree within %v", r.crew.Count, r.crew.bound)})
		for _, o := range judge.Outliers(r.all(), r.crew.Count) {
			r.note(records.Note{Kind: records.NoteShards, Doubt: true, Text: fmt.Sprintf("%s is out of line: %v; its network or its machine was slower, all the time or for a while", r.crew.Name(o.Shard), o)})
		}
	}
	if f.failures != "" {
		r.note(records.Note{Kind: records.NoteFailures, Text: f.failures})
	}
	measured := maps.Clone(s.Metrics)
	if err := r.judgeBursts(s.Metrics, f.bursts); err != nil {
		r.note(records.Note{Kind: records.NoteBursts, Doubt: true, Units: r.hidden, Text: err.Error()})
	}
	d, err := r.judge(s.Metrics)
	if err != nil {
		r.b.Fatal(r.fail(err))
	}
	if d.Unknown != "" {
		r.tell(records.Note{Kind: records.NoteClient}, "the distortion by the client is unknown, and client-err-%% is left out: %s", d.Unknown)
	}
	r.tellDistorted(d, s.Metrics)
	r.b.ReportMetric(0, "ns/op") // the time of a pass is the inverse of req/s
	for _, u := range units {
		if v, known := s.Metrics[u.Name]; known && r.shown(u) {
			r.b.ReportMetric(v, u.Name)
		}
		if u.Name == "steady-output-tok/s" && r.shown(u) {
			for _, p := range s.Steady {
				if p.Why != "" {
					r.tell(records.Note{Kind: records.NoteSteady, Units: []string{u.Name}}, "pass %d: no steady state: %s", p.Pass, p.Why)
				}
			}
		}
	}
	for _, n := range slices.Concat(r.wrongAnswers(s.Metrics), notes(f), cache) {
		r.note(n)
	}
	var c conclusion
	if r.end.Outcome == records.EndedFailed {
		c.Failed = r.end.Why
	}
	if _, err := r.conclude(c); err != nil { // another shard is lost
		r.b.Fatal(r.fail(err))
	}
	e := r.entry(s.Metrics, d)
	e.Withheld = r.withheldFigures(measured, d)
	process.show(e)
}

// tellDistorted says which figures the client distorted too much. The benchmark fails if the load wants
// that, and if the figures that are left in metrics have neither a rate nor a latency, unless
// LLMBENCH_CLIENT_BOUND is withhold. Figures of a server in this process are reported with its own beside
// them, so that only the records and the log with -v have the note.
func (r *run) tellDistorted(d distortion.Report, metrics map[string]float64) {
	r.b.Helper()
	if len(d.Distorted) == 0 {
		return
	}
	n := records.Note{Kind: records.NoteClient, Doubt: true, Units: d.Units(), Text: d.Text(r.bound != BoundReported)}
	if !r.local || r.bound != BoundReported || testing.Verbose() { // a simulated server states the true figures
		r.b.Log(n)
	}
	if testing.Verbose() {
		r.b.Log(d.Why)
	}
	why := ""
	switch {
	case r.bound == BoundFails:
		why = "client-bound, and LLMBENCH_CLIENT_BOUND is fail"
	case r.bound == BoundWithheld && r.cfg.bound != BoundWithheld && !slices.ContainsFunc(r.load.units(), func(u sample.Unit) bool { return u.Timed() && r.shown(u) && has(metrics, u.Name) }):
		why = "client-bound: neither a rate nor a latency is left"
	}
	if why != "" {
		r.end.Outcome, r.end.Why = records.EndedFailed, why+": "+n.Text
		r.notes = append(r.notes, "failed: "+why)
		r.b.Errorf("%s%s", why, where(r.records))
	}
	n.Text += "\n" + d.Why
	r.end.Notes = append(r.end.Notes, n)
}

// withheldFigures returns the figures that were withheld, for the table at the end. Measured are all
// figures.
func (r *run) withheldFigures(measured map[string]float64, d distortion.Report) (all []screen.Withheld) {
	for _, w := range r.withheld {
		for _, unit := range w.Units {
			one := screen.Withheld{Unit: unit}
			if !w.Bursts {
				one.Value, one.Most = measured[unit], d.Most(unit)
			}
			all = append(all, one)
		}
	}
	return all
}

// has reports whether metrics have a unit.
func has(metrics map[string]float64, unit string) bool {
	_, known := metrics[unit]
	return known
}

// entry returns what the table at the end has of the result: the figures that are reported, of which some
// are doubted.
func (r *run) entry(figures map[string]float64, d distortion.Report) screen.Entry {
	e := screen.Entry{Benchmark: r.b.Name(), Figures: figures, Doubted: d.Units(), Notes: r.notes}
	truth := r.client.target.Truth
	if truth == nil {
		return e
	}
	e.Next = truth.Next
	if truth.Figures != nil {
		e.True = truth.Figures(r.all())
		maps.DeleteFunc(e.True, func(unit string, _ float64) bool { return len(r.ofResult([]string{unit})) == 0 })
	}
	return e
}

// tell adds a note with that text to the end of the records, and logs it unless it is reassuring.
// The note names only units that the result may have.
func (r *run) tell(n records.Note, format string, args ...any) {
	r.b.Helper()
	n.Text = fmt.Sprintf(format, args...)
	if about := r.ofResult(n.Units); len(n.Units) > 0 {
		n.Units, n.Doubt = about, n.Doubt && len(about) > 0
	}
	r.end.Notes = append(r.end.Notes, n)
	if !reassuring(n) || testing.Verbose() {
		r.b.Log(n)
	}
}

// note is tell for a note that has its text, and that the table at the end shows too.
func (r *run) note(n records.Note) {
	r.b.Helper()
	r.tell(n, "%s", n.Text)
	if told := r.end.Notes[len(r.end.Notes)-1]; !reassuring(told) || testing.Verbose() {
		r.notes = append(r.notes, n.Text)
	}
}

// reassuring reports whether a note puts nothing in doubt, and says nothing of requests that failed,
// of figures that are missing, nor where figures come from.
func reassuring(n records.Note) bool {
	switch n.Kind {
	case records.NoteAnswers, records.NoteFailures, records.NoteServer, records.NoteClient, records.NoteSteady, records.NoteTokens, records.NoteClock:
		return false
	}
	return !n.Doubt
}

// ofResult returns those of the named units that are reported.
func (r *run) ofResult(names []string) (reported []string) {
	units := r.load.units()
	for _, name := range names {
		if at := slices.IndexFunc(units, named(name)); at >= 0 && r.shown(units[at]) {
			reported = append(reported, name)
		}
	}
	return reported
}

// follow is publish for the shards that print no result.
func (r *run) follow() {
	r.b.Helper()
	if _, err := r.report(nil); err != nil {
		r.b.Fatal(r.fail(err))
	}
	c, err := r.conclude(conclusion{})
	if err != nil {
		r.b.Fatal(r.fail(err))
	}
	if c.Failed != "" {
		r.b.Error(c.Failed) // as at shard 0, the benchmark goes on
	}
}

// shortAnswers is the share of the asked output tokens below which short answers are logged.
const shortAnswers = 0.95

// manyCached is the percentage of cached prompt tokens above which they are logged.
const manyCached = 10

// notes returns what a reader of the figures must know about their sources.
func notes(f facts) (all []records.Note) {
	s := f.summary
	add := func(n records.Note, format string, args ...any) {
		n.Text = fmt.Sprintf(format, args...)
		all = append(all, n)
	}
	if f.excess != "" {
		add(records.Note{Kind: records.NoteLengths}, "%s", f.excess)
	}
	if asked, output := s.Metrics["asked-out-tok/req"], s.Metrics["out-tok/req"]; output > 0 && output < shortAnswers*asked {
		add(records.Note{Kind: records.NoteLengths, Doubt: true}, "answers are shorter than asked: mean %.4g of %.4g output tokens; figures depend on the length", output, asked)
	}
	if cached := s.Metrics["cached-%"]; cached > manyCached {
		units := firstTokens(s.Metrics)
		add(records.Note{Kind: records.NoteCache, Doubt: len(units) > 0, Units: units}, "the server took %.3g%% of the prompts' tokens from its cache, which shortens the TTFT: prompts have a common beginning, or were sent before, in this process or without Target.Salt in another", cached)
	}
	if len(s.Sources) > 1 || s.Sources[sample.FromUsage] == 0 && s.Outcomes[sample.OK] > 0 {
		add(records.Note{Kind: records.NoteTokens}, "output tokens were not all stated by the server: %s", tally(s.Sources))
	}
	for _, text := range s.Contradictions {
		add(records.Note{Kind: records.NoteTokens}, "%s", text)
	}
	if text := s.DescribeDeltas(); text != "" {
		add(records.Note{Kind: records.NoteTokens}, "%s", text)
	}
	if len(s.Clocks) > 1 {
		add(records.Note{Kind: records.NoteClock}, "not all instants are the kernel's: requests by clock: %s", tally(s.Clocks))
	}
	if f.hidden > 0 {
		add(records.Note{Kind: records.NoteTokens}, "the server counted reasoning tokens that it did not stream in %d of %d requests: these have no TPOT", f.hidden, s.Requests)
	}
	if s.Connected > 0 {
		add(records.Note{Kind: records.NoteConnections}, "%d of %d requests had to open a connection; the time it took is in their latency, and in the records", s.Connected, s.Requests)
	}
	if s.Resent > 0 {
		add(records.Note{Kind: records.NoteConnections}, "the server closed kept connections: %d of %d requests were sent again; the time lost is in their latency", s.Resent, s.Requests)
	}
	return all
}

// Of a prompt and of what is wrong with its answer so many bytes are shown.
const (
	shownPrompt = 80
	shownWrong  = 160
)

// wrongAnswers shows one of the checked answers if none of them is right: then the server, the prompt
// or the check is mostly not what the user thinks.
func (r *run) wrongAnswers(metrics map[string]float64) []records.Note {
	if right, checked := metrics[sample.Accuracy]; !checked || right > 0 {
		return nil
	}
	text := fmt.Sprintf("0 of %.0f right", metrics[sample.CheckedRequests])
	t := r.client.target
	for s := range r.all() {
		if s.Checked && s.Turn == 0 && s.Pass == r.prompts.passes-1 {
			prompt := t.Redact(r.prompts.last.At(s.Request).Prompt)
			if cut := len(prompt) - shownPrompt; cut > 0 {
				prompt = "…" + strings.ToValidUTF8(prompt[cut:], "")
			}
			text += fmt.Sprintf("; for example asked %q: %s", prompt, graphic(t.Excerpt(s.Wrong, shownWrong)))
			break
		}
	}
	return []records.Note{{Kind: records.NoteAnswers, Units: []string{sample.Accuracy}, Text: text}}
}

// graphic replaces what could change the screen, because servers write some of the text.
func graphic(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, text)
}

// ofTokens returns the units of the load that depend on the number of output tokens.
func (r *run) ofTokens() (units []string) {
	for _, u := range r.load.units() {
		if u.Family == sample.FamilyTPOT || slices.Contains([]string{"output-tok/s", "steady-output-tok/s", "total-tok/s", "user-tok/s", "out-tok/req"}, u.Name) {
			if r.shown(u) {
				units = append(units, u.Name)
			}
		}
	}
	return units
}

// firstTokens returns the units in figures that are times to the first delta.
func firstTokens(figures map[string]float64) (units []string) {
	for _, u := range sample.Units {
		if _, known := figures[u.Name]; known && u.Family == sample.FamilyTTFT {
			units = append(units, u.Name)
		}
	}
	return units
}
