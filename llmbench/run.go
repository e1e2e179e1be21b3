package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/judge"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/lockstep"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Run measures t under l as benchmark b. The result has the samples of every pass, and is closed when the
// benchmark ends. If several processes measure together, the result of each has the samples of all of them.
//
// One op is one pass over the load's requests, from the first send to the end of the last response. With
// -benchtime=1x there is one pass. With 3x the samples of three passes are pooled. With 10s there are as
// many whole passes as fill ten seconds. A load with a Duration has passes of that duration: -benchtime says how many
// there are, and not how long each is. The warm-up and the opening of connections come before the first
// pass and are not measured.
//
// Run reports the core units of the catalogue ([Units]) instead of ns/op. With LLMBENCH_UNITS=all it
// reports all units. If LLMBENCH_OUT is set, Run writes each request to a file in that folder as soon as
// the request has ended. Run fails b after the first pass with more failed requests than the load
// tolerates. The records of that pass are still written.
//
// Run must be called at most once in a benchmark function, by the benchmark's goroutine, and not within a loop over
// b.N or b.Loop; otherwise it fails b. It also fails b if a metric was reported before, because package testing
// would delete the metric. Report metrics after Run. The test binary's
// TestMain must call [Main]; otherwise the results lack the metadata of units and the configuration lines.
func Run(b *testing.B, t Target, l Load) *Result {
	b.Helper()
	process.Watch(b)
	if err := claim(b); err != nil {
		fatal(b, err)
	}
	r, err := newRun(b.Name(), t, l)
	if err != nil {
		fatal(b, err)
	}
	r.b = b
	b.Cleanup(func() { r.samples.Close() })
	defer r.close()
	ctx := process.Context(b)
	if ctx.Err() != nil {
		fatal(b, r.party.Fail(context.Cause(ctx)))
	}
	process.WarnWithoutMain(b)
	if err := Announce(b, t); err != nil {
		fatal(b, r.party.Fail(err))
	}
	if r.first, err = r.plan(); err != nil { // before the warm-up, so that nothing is sent of an invalid load
		fatal(b, r.party.Fail(fmt.Errorf("pass 0: %w", err)))
	}
	defer func() {
		if err := r.endRecords(); err != nil {
			b.Errorf("records: %v", err)
		}
		process.Ended()
	}()
	if err := r.begin(ctx); err != nil {
		fatal(b, err)
	}
	if !slices.ContainsFunc(r.load.Classes, func(c Class) bool { return c.Arrivals != nil }) { // rates of others are those of the whole Duration
		ctx, r.enough = process.Patient(b)
	}
	for number := 0; r.cut == ""; number++ {
		more, err := r.party.More(b)
		if err != nil {
			fatal(b, r.fail(err))
		}
		if !more {
			break
		}
		if err := r.pass(ctx, number); err != nil {
			fatal(b, err)
		}
	}
	if err := r.finish(ctx); err != nil {
		fatal(b, err)
	}
	if r.cut != "" {
		r.failInterrupted()
	}
	r.show(b)
	return r.result()
}

// fatal fails a benchmark, and adds the failure to the table at the end.
func fatal(b *testing.B, err error) {
	b.Helper()
	text := redact.Known().Hide(err.Error())
	process.Show(screen.Entry{Benchmark: b.Name(), Notes: []string{"failed: " + text}})
	b.Fatal(text)
}

// newRun returns a run that is set up to measure t under l. It sends nothing.
func newRun(name string, t Target, l Load) (*run, error) {
	p := process.Join(name)
	m, err := setUp(p, t, l)
	if err != nil {
		return nil, p.Fail(err)
	}
	m.load.tokenized = tokenizedAnswers
	process.AddUnits(m.load.Units)
	return &run{measurement: m, name: name}, nil
}

// begin creates the file of records and sends the warm-up.
func (r *run) begin(ctx context.Context) error {
	if err := r.beginRecords(r.name); err != nil {
		return r.party.Fail(err)
	}
	if err := r.measurement.begin(); err != nil {
		return r.fail(err)
	}
	stop := func() {}
	if n := len(r.load.Warmup); n > 0 {
		stop = process.ShowPass(screen.Pass{Benchmark: r.name, Number: screen.Warmup, Requests: n, Ended: r.client.Ended}, r.logf)
	}
	// The control streams use real sockets, which would stop the fake clock of a server in virtual time.
	err := r.prepare(ctx, r.bound != BoundReported || r.target.Dial == nil)
	if stop(); err != nil {
		return r.fail(err)
	}
	if pass := r.expected(); pass > 0 {
		process.Expect(r.name, max(r.first.samples, r.load.expectedRequests(r.warm)/2), pass)
	}
	if r.party.Leads() {
		r.server, r.gateway = observe(r.target.Observe), observe(r.target.ObserveGateway)
	}
	return nil
}

// expected returns about how long the first pass takes, by the requests of the warm-up. It returns 0 if that is not known,
// or if a simulated server has had a shorter warm-up.
func (r *run) expected() time.Duration {
	switch {
	case r.first == nil || r.warm == 0 || r.target.Simulated:
		return 0
	case r.load.Arrivals != nil:
		times, err := arrivals.Schedule(r.load.Arrivals, r.first.requests)
		if err != nil || len(times) == 0 {
			return 0
		}
		return times[len(times)-1] + r.warm
	}
	if r.load.Duration > 0 {
		return r.load.sends() + r.warm
	}
	users := max(1, r.load.Concurrency)
	return r.warm * time.Duration((r.first.samples+users-1)/users)
}

// pass makes one pass and adds it to the measurement. A failed pass becomes the end of the records.
func (r *run) pass(ctx context.Context, number int) error {
	if err := r.hooked(ctx, r.name, number, func() error { return r.tryPass(ctx, number) }); err != nil {
		err = fmt.Errorf("pass %d: %w", number, err)
		if number > 0 && ctx.Err() != nil {
			err = fmt.Errorf("%w; complete passes before it: %d", err, number)
		}
		return r.fail(err)
	}
	return nil
}

// cutShort notes that a pass was interrupted, and that its requests in flight have ended since. It reports whether the pass
// has measured anything, and returns an error if nothing was measured in the passes before, either.
func (r *run) cutShort(number int, samples iter.Seq[*sample.Sample]) (measured bool, err error) {
	r.load.LeastCoverage = 0 // users had no sessions from then on
	n := 0
	for range sample.Measured(samples) {
		n++
	}
	switch {
	case number == 0 && n == 0:
		return false, errors.New("interrupted before a request was complete")
	case number == 0:
		r.cut = fmt.Sprintf("interrupted: the figures are of the first %d requests", n)
	case n == 0:
		r.cut = fmt.Sprintf("interrupted: the figures are of %d passes", number)
	default:
		r.cut = fmt.Sprintf("interrupted: the figures are of %d passes, and of the first %d requests of another", number, n)
	}
	return n > 0, nil
}

// failInterrupted fails a benchmark that was interrupted. The table has what was measured.
func (r *run) failInterrupted() {
	r.failed = append(r.failed, r.cut)
	r.end.Outcome, r.end.Why = records.EndedFailed, r.cut
	if r.row != nil {
		r.row.Notes = append(r.row.Notes, "failed: "+r.cut)
	}
}

// finish ends the measurement. The leader computes the result, and other processes wait for it.
func (r *run) finish(ctx context.Context) error {
	if r.party.Leads() {
		return r.publish(ctx)
	}
	return r.follow()
}

// tryPass is like pass, but returns its error without the number of the pass, and does not write it to the
// records.
func (r *run) tryPass(ctx context.Context, number int) error {
	pl := r.first
	if r.first = nil; pl == nil {
		var err error
		if pl, err = r.plan(); err != nil {
			return err
		}
	}
	for i, c := range pl.loops() {
		n := c.load.expectedRequests(r.warm) * c.requests / max(1, c.samples) // the warm-up has single turns of sessions
		if i < len(r.sent) {
			n = max(n, 2*r.sent[i])
		}
		if err := c.reserve(n); err != nil {
			return err
		}
	}
	if err := r.prime(ctx, number, pl); err != nil {
		return err
	}
	if err := cmp.Or(r.server.before(ctx), r.gateway.before(ctx)); err != nil {
		return fmt.Errorf("before it: %w", err)
	}
	ended := r.client.Ended()
	stop := process.ShowPass(screen.Pass{
		Benchmark: r.name,
		Number:    number,
		Requests:  pl.samples,
		For:       pl.duration,
		Ended:     func() int { return r.client.Ended() - ended },
	}, r.logf)
	result, err := r.measurement.pass(ctx, number, pl)
	stop()
	if err := r.gateway.after(ctx); err != nil {
		r.tell(records.Note{Kind: records.NoteServer}, "pass %d: the gateway's own figures are left out: %v", number, err)
	}
	if counters := r.gateway.counters(); counters != nil {
		r.end.Gateway = append(r.end.Gateway, records.Gateway{Pass: number, Counters: redactKeys(r.target, counters)})
	}
	if err := r.server.after(ctx); err != nil {
		r.tell(records.Note{Kind: records.NoteServer}, "pass %d: the server's own figures are left out: %v", number, err)
	}
	if result.ClockChange != 0 {
		r.tell(records.Note{Kind: records.NoteClock}, "pass %d: the wall clock jumped by %v; from then on, the kernel's times of arrival are not used. Times are when the client read the data. How long the data had waited is unknown", number, result.ClockChange)
	}
	r.tellPlace(number, result.place, result.whyPlace)
	if err != nil {
		if result.samples != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: %s", err, judge.Interrupted(result.samples))
		}
		return err
	}
	if result.Cut {
		if measured, err := r.cutShort(number, result.samples); err != nil || !measured {
			return err
		}
	} else if pl.duration > 0 {
		r.tellEnd(number, pl, result)
	}
	if result.RecorderWait > 0 {
		r.tell(records.Note{Kind: records.NoteRecorder, Doubt: true}, "pass %d: requests were sent late because they waited for the records of earlier requests, %v summed over all requests: the disk, the tokenizer or this machine is too slow for the load", number, result.RecorderWait.Round(time.Microsecond))
	}
	for _, shard := range slices.Sorted(maps.Keys(result.silences)) {
		r.note(records.Note{Kind: records.NoteShards, Doubt: true, Text: fmt.Sprintf("pass %d: nothing was heard of %s for %v: its network was down, or its machine had no CPU, and its requests may have waited", number, r.party.Name(shard), result.silences[shard].Round(100*time.Millisecond))})
	}
	if r.party.Leads() {
		err = r.check(ctx, number, result.samples)
	}
	if err := process.Agreed(r.party, err); err != nil {
		return err
	}
	r.add(result)
	return r.samples.Err()
}

// tellEnd tells why a pass for a time ended before its time was over, if it did.
func (r *run) tellEnd(number int, pl *plan, result passResult) {
	loops := pl.loops()
	last, sent := make([]time.Duration, len(loops)), make([]map[int]bool, len(loops))
	for s := range process.Own(r.party, result.samples) {
		i := s.Request % len(loops)
		last[i] = max(last[i], s.Start)
		if sent[i] == nil {
			sent[i] = map[int]bool{}
		}
		sent[i][s.Request] = true
	}
	if result.Stopped != "" {
		r.tell(records.Note{Kind: records.NoteDuration}, "pass %d: %s", number, result.Stopped)
	}
	r.sent = slices.Grow(r.sent, len(loops))[:len(loops)]
	for i, c := range loops {
		r.sent[i] = max(r.sent[i], len(sent[i])*max(1, r.party.Part().Count))
		own := r.party.Part().Requests(c.requests, c.load.Concurrency) // 0 if the class has fewer users than there are processes
		if result.Stopped == "" && own > 0 && len(sent[i]) == own && c.ended() {
			what := ""
			if pl.classes != nil {
				what = " of class " + r.load.Classes[i].Name
			}
			r.tell(records.Note{Kind: records.NoteDuration}, "pass %d: there were no requests%s after the first %d, of which the last was sent after %v of %v", number, what, c.requests, last[i].Round(time.Millisecond), pl.duration)
		}
	}
}

// plan returns the plan of the next pass.
func (r *run) plan() (*plan, error) {
	number := 0
	if r.load.draws() {
		next := r.next
		if next == nil {
			next = func() int { return process.NextPass(r.name) }
		}
		number = next()
	}
	return passPlan(&r.load, r.target, number)
}

// toleratedMiss is the largest deviation of an open loop's rate from the rate of its schedule, as a share
// of the scheduled rate, that is not logged.
const toleratedMiss = 0.01

// check compares the samples of a pass with the schedule and with the server's counts. It returns an error
// if too many requests failed, or if the counts contradict the answers.
func (r *run) check(ctx context.Context, number int, samples iter.Seq[*sample.Sample]) error {
	var asked, achieved float64
	var scheduled bool
	var own judge.Own
	var failures string
	var elapsed time.Duration
	lockstep.Range(samples,
		func(s iter.Seq[*sample.Sample]) { elapsed = sample.Elapsed(s) },
		func(s iter.Seq[*sample.Sample]) { asked, achieved, scheduled = sample.AchievedRate(s) },
		func(s iter.Seq[*sample.Sample]) { own = judge.CountOwn(s) },
		func(s iter.Seq[*sample.Sample]) { failures = judge.TooManyFailed(s, r.load.tolerated()) })
	if scheduled && math.Abs(achieved-asked) > toleratedMiss*asked {
		r.tell(records.Note{Kind: records.NoteRate, Doubt: true}, "pass %d: %.4g requests per second were asked for, and %.4g sent", number, asked, achieved)
	}
	if err := r.samples.Err(); err != nil { // some samples could not be read
		return err
	}
	if failures == "" && r.load.WarmupFor > 0 && elapsed == 0 {
		return fmt.Errorf("all requests had ended when the warm-up of %v was over, so that nothing was measured: want more requests, or a shorter warm-up", r.load.WarmupFor)
	}
	counter, ok := r.server.Observer.(Counter)
	if !ok {
		r.end.Counts = append(r.end.Counts, own.Record(number, judge.Unknown))
	} else {
		delay := countsDelay
		if r.uncounted {
			delay = 0
		}
		server, d, err := checkCounts(ctx, counter, own, delay)
		r.end.Counts = append(r.end.Counts, own.Record(number, server))
		if err != nil {
			r.tell(records.Note{Kind: records.NoteServer}, "pass %d: the server's own token counts cannot be used: %v", number, err)
		}
		if d.Fault {
			return errors.New(d.Text)
		}
		if d.Text != "" {
			units := slices.Sorted(maps.Keys(r.server.figures)) // the client's own metrics are right
			r.tell(records.Note{Kind: records.NoteServer, Doubt: len(units) > 0, Units: units}, "pass %d: %s", number, d.Text)
		}
		r.uncounted = d.Fewer
	}
	if err := own.Understated(); err != nil {
		return err
	}
	if text := own.Contradiction(); text != "" {
		r.tell(records.Note{Kind: records.NoteTokens, Doubt: true, Units: r.reported().OfTokens()}, "pass %d: %s", number, text)
	}
	if failures != "" {
		return errors.New(cmp.Or(judge.MixedUp(samples), failures))
	}
	return nil
}
