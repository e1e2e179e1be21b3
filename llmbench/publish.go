package llmbench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An ending is what a benchmark logs, reports and shows when it ends.
type ending struct {
	said   []any         // what to log, collected while the benchmark did not run
	values []figure      // the metrics to report; nil in a process that is not the leader
	failed []string      // why the benchmark fails although it has a result
	row    *screen.Entry // the row in the table that Main prints; nil if there is none
}

// A figure is the value of one metric.
type figure struct {
	unit  string
	value float64
}

// show logs, reports and shows the content of e as the end of b. It must be called after the last call of
// b.Loop, because b.Loop deletes all metrics that were reported before.
func (e *ending) show(b *testing.B) {
	b.Helper()
	for _, what := range e.said {
		b.Log(what)
	}
	for _, f := range e.values {
		process.Report(b, f.value, f.unit)
	}
	for _, why := range e.failed {
		b.Error(why)
	}
	if e.row != nil {
		process.Show(*e.row)
	}
}

// publish computes the metrics of all passes, withholds those that the client distorted too much, and keeps
// the rest to be reported.
func (r *run) publish(ctx context.Context) error {
	f := judge.FindFacts(r.all(), r.elapsed, r.estimate.Late(), r.load.SLO, r.load.tolerated())
	f.AskForDeltas, f.Compared = askForDeltas(r.target), r.armsSeed != 0
	r.collect(f.Summary)
	metrics := f.Summary.Metrics
	cache := r.judgeCache(ctx, metrics)
	if err := r.samples.Err(); err != nil {
		return r.fail(err)
	}
	r.end.Outcome, r.end.Why, r.end.ClockBound = records.EndedOK, "", r.party.ClockBound()
	r.tellShards() // first, because package testing truncates long logs
	if f.Failures != "" {
		r.note(records.Note{Kind: records.NoteFailures, Text: f.Failures})
	}
	measured := maps.Clone(metrics)
	v, err := r.judge(metrics, f)
	if err != nil {
		return r.fail(err)
	}
	r.tellVerdict(v)
	if r.cfg.Price > 0 {
		if million, ok := price.Million(r.cfg.Price, metrics[sample.OutputRate]); ok { // without a rate, or with a withheld one, there is none
			metrics[sample.TokenPrice] = million
			if tokens, known := metrics[sample.SessionOutput]; known {
				metrics[sample.SessionPrice] = million * tokens / 1e6
			}
		}
	}
	if text := f.Recorded.Describe(r.target.RecordHeader, metrics); text != "" {
		r.tell(records.Note{Kind: records.NoteServer}, "%s", text)
	}
	r.tellHits(metrics)
	r.report(f.Summary)
	byDesign := r.load.MeasuresCache || r.prompts.sessions || judge.OnlyCommon(measured, r.load.CommonTokens)
	for _, n := range slices.Concat(r.wrongAnswers(metrics), f.Notes(), cache, f.PauseNotes(r.all(), r.estimate.Latest())) {
		if n.Kind == records.NoteCache && byDesign || n.Kind == records.NoteStart && r.target.Simulated { // nothing is between the client and a server in this process
			continue
		}
		r.note(n)
	}
	c := conclusion{Withheld: v.Withheld}
	if r.end.Outcome == records.EndedFailed {
		c.Failed = r.end.Why
	}
	if _, err := r.conclude(c); err != nil { // the connection to another process is lost
		return r.fail(err)
	}
	r.row = r.entry(v, measured)
	return nil
}

// collect adds the load's own metrics and the observer's metrics to the summary.
func (r *run) collect(s sample.Summary) {
	if v, known := s.Metrics[sample.OutputRate]; known {
		process.SetLast(fmt.Sprintf("%.4g tok/s", v))
	}
	if r.load.Figures != nil {
		more := r.load.Figures(r.all())
		if unknown := unknownUnits(r.load.units(), more); len(unknown) > 0 {
			r.failf("load: Figures returned the unknown units %q: want units that are in Load.Units or in the catalogue", unknown)
		}
		s.Add(more)
		r.own = more
	}
	if r.armsSeed != 0 {
		s.Metrics[sample.ArmsSeed] = float64(r.armsSeed)
	}
	observed := r.gateway.all(r.all())
	maps.Copy(observed, r.server.all(r.all()))
	s.Add(observed)
	for _, unit := range slices.Sorted(maps.Keys(observed)) {
		if v := observed[unit]; !judge.Finite(v) {
			r.tell(records.Note{Kind: records.NoteServer, Units: []string{unit}}, "%s is left out: the Observer returned %v: want a finite number", unit, v)
		}
	}
}

// tellShards adds a note on the processes that sent the requests, unless this process was alone.
func (r *run) tellShards() {
	part := r.party.Part()
	if part.Alone() {
		return
	}
	r.note(records.Note{Kind: records.NoteShards, Text: fmt.Sprintf("%d shards sent the requests; their clocks agree within %v", part.Count, r.party.ClockBound())})
	for _, o := range judge.Outliers(r.all(), part.Count) {
		r.note(records.Note{Kind: records.NoteShards, Doubt: true, Text: fmt.Sprintf("%s is out of line: %v; its network or its machine was slower, all the time or for a while", r.party.Name(o.Shard), o)})
	}
}

// report collects the metrics that were not withheld, to be reported at the end of the benchmark.
func (r *run) report(s sample.Summary) {
	r.values = append(r.values, figure{"ns/op", 0}) // 0 omits ns/op, which would repeat req/s
	unbounded := slices.DeleteFunc(slices.Clone(s.Unbounded), func(unit string) bool { u, _ := sample.Find(sample.Units, unit); return !r.shown(u) })
	if len(unbounded) > 0 {
		r.tell(records.Note{Kind: records.NoteFailures, Units: unbounded}, "omitted, because so many requests failed that it would be the latency of a failed one: %s (%d of %d requests failed)", strings.Join(unbounded, ", "), s.Failed(), s.Requests)
	}
	for _, u := range r.load.units() {
		if v, known := s.Metrics[u.Name]; known && r.shown(u) {
			r.values = append(r.values, figure{u.Name, v})
		}
		if u.Name == sample.SteadyRate && r.shown(u) {
			for _, p := range s.Steady {
				if p.Why != "" {
					r.tell(records.Note{Kind: records.NoteSteady, Units: []string{u.Name}}, "pass %d: no steady state: %s", p.Pass, p.Why)
				}
			}
		}
	}
}

// tellVerdict adds notes on the metrics that are withheld or in doubt. The benchmark fails if the load
// wants it to fail because of a distorted metric. It also fails if neither a rate nor a latency is left, nor a
// metric of the load's own that no clock measured, unless LLMBENCH_CLIENT_BOUND is "withhold".
//
// If the server is part of this process, its own metrics are shown beside the measured ones. The note about
// the client is then only in the records and in the log with -v.
func (r *run) tellVerdict(v verdict) {
	if v.idle != "" {
		r.note(records.Note{Kind: records.NoteDuration, Doubt: true, Units: r.end.Idle, Text: v.idle})
	}
	if v.unread != "" {
		r.note(records.Note{Kind: records.NoteUnread, Doubt: true, Units: v.Unread, Text: v.unread})
	}
	if v.bursts != "" {
		r.note(records.Note{Kind: records.NoteBursts, Doubt: true, Units: v.Hidden, Text: v.bursts})
	}
	if v.parts != "" {
		var units []string
		for _, w := range v.Withheld {
			if len(w.Of) > 0 {
				units = append(units, w.Units...)
			}
		}
		r.note(records.Note{Kind: records.NoteClient, Doubt: true, Units: units, Text: v.parts})
	}
	if len(v.together) > 0 {
		r.tell(records.Note{Kind: records.NoteTokens, Units: v.together}, "omitted, because the time would be 0: %s. Most deltas came together with the one before, as from an engine that sends several tokens at once: means, where they are shown, tell the pace of the tokens", strings.Join(v.together, ", "))
	}
	if v.client.Unknown != "" {
		r.tell(records.Note{Kind: records.NoteClient}, "the distortion by the client is unknown, and client-err-%% is left out: %s", v.client.Unknown)
	}
	if len(v.client.Distorted) == 0 {
		return
	}
	n := records.Note{Kind: records.NoteClient, Doubt: true, Units: v.client.Units(), Text: v.client.Text(!v.Reported)}
	if !r.target.Simulated || !v.Reported || testing.Verbose() { // a simulated server reports the true metrics
		r.log(n)
	}
	if testing.Verbose() {
		r.log(v.client.Why)
	}
	why := ""
	switch {
	case r.bound == BoundFails:
		why = "client-bound, and LLMBENCH_CLIENT_BOUND is fail"
	case r.bound == BoundWithheld && ClientBound(r.cfg.ClientBound) != BoundWithheld && !v.HasResult(r.own):
		why = "client-bound: neither a rate nor a latency is left"
	}
	if why != "" {
		r.end.Outcome, r.end.Why = records.EndedFailed, why+": "+n.Text
		r.notes = append(r.notes, "failed: "+why)
		r.failf("%s%s", why, r.records.where())
	}
	n.Text += "\n" + v.client.Why
	r.end.Notes = append(r.end.Notes, n)
}

// entry returns the row of the result in the table at the end. The row has the metrics that are reported,
// some of which may be in doubt, and the metrics that are withheld. The argument measured holds the values
// of all metrics before any was withheld.
func (r *run) entry(v verdict, measured map[string]float64) *screen.Entry {
	e := &screen.Entry{Benchmark: r.name, Figures: r.withoutFamilies(v), Doubted: v.client.Units(), Notes: r.notes, Settings: r.target.config()}
	for _, w := range v.Withheld {
		for _, unit := range w.Units {
			one := screen.Withheld{Unit: unit, Unread: w.Why == judge.ByUnread, Idle: w.Why == judge.ByIdle, Parts: len(w.Of) > 0 || v.client.Computed(unit)}
			if w.Why == judge.ByClient && !one.Parts {
				one.Value, one.Most = measured[unit], v.client.Most(unit)
				one.Capped = one.Most >= distortion.MaxShare
			}
			e.Withheld = append(e.Withheld, one)
		}
	}
	speed := r.target.config()["mock-speed"]
	e.Scaled = speed != "" && speed != "1"
	if truth := r.target.Truth; truth != nil {
		e.Next = truth.Next
		if truth.Figures != nil {
			e.True = truth.Figures(r.all())
			maps.DeleteFunc(e.True, func(unit string, _ float64) bool { return len(v.Named([]string{unit})) == 0 })
		}
	}
	return e
}

// withoutFamilies returns the metrics that were not withheld, without those that the result does not show, and that
// measure the same as a withheld metric. The table shows some units that are not in the result. They were not judged.
func (r *run) withoutFamilies(v verdict) map[string]float64 {
	var withheld []string
	for _, w := range v.Withheld {
		withheld = append(withheld, w.Units...)
	}
	metrics := maps.Clone(v.Metrics)
	for _, u := range sample.Alike(r.load.units(), withheld) {
		if !r.shown(u) {
			delete(metrics, u.Name)
		}
	}
	return metrics
}

// follow does the work of publish in a process that is not the leader and reports no result.
func (r *run) follow() error {
	if _, err := r.distortion(nil, nil); err != nil {
		return r.fail(err)
	}
	c, err := r.conclude(conclusion{})
	if err != nil {
		return r.fail(err)
	}
	if c.Failed != "" {
		r.failf("%s", c.Failed) // the benchmark continues, as it does in shard 0
	}
	return nil
}
