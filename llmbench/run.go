package llmbench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Run measures t under l as benchmark b, and returns the samples of every pass.
//
// One op is one pass over the load's requests: it begins with the first send
// and ends when the last response has ended. So -benchtime=1x is one pass, 3x
// pools three, and 10s as many whole passes as fill ten seconds. Warm-up and the opening of
// connections come before the first pass and are not measured.
//
// Run reports the core units of the catalogue ([Units]), or all of them with LLMBENCH_UNITS=all,
// instead of ns/op, and writes each request to a file in LLMBENCH_OUT. It fails
// b as soon as a pass has more failed requests than the load tolerates, with
// what went wrong; the records are written all the same.
//
// It must be called at most once in a benchmark function, by its goroutine.
func Run(b *testing.B, t Target, l Load) []sample.Sample {
	b.Helper()
	Watch(b)
	cfg, err := readConfig()
	if err != nil {
		b.Fatal(err)
	}
	if l, err = l.check(); err != nil {
		b.Fatal(err)
	}
	c, err := newClient(t)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	ctx := Context(b)
	if ctx.Err() != nil {
		b.Fatal(context.Cause(ctx))
	}
	process.announceUnits(b.Name(), l.Units)
	if err := Announce(b, t); err != nil {
		b.Fatal(err)
	}
	rec, err := newRecorder(cfg.out, b.Name(), t, l)
	if err != nil {
		b.Fatal(err)
	}
	end := recordEnd{Outcome: endedFailed, Why: "the benchmark panicked"}
	defer func() {
		if err := rec.close(end); err != nil {
			b.Errorf("records: %v", err)
		}
	}()
	fail := func(format string, args ...any) {
		b.Helper()
		end.Why = fmt.Sprintf(format, args...)
		b.Fatal(end.Why + rec.where())
	}

	if err := c.warmUp(ctx, &l); err != nil {
		fail("warm-up: %v", err)
	}

	bound := clientBound(&l, cfg, t)
	var distorted distortion.Estimate
	if c.control, err = newControl(c.gap); err != nil {
		fail("%v", err)
	}
	defer c.control.close()

	var observer Observer
	if t.Observe != nil {
		observer = t.Observe()
	}
	var all []sample.Sample
	var total time.Duration
	var figures map[string]float64 // of the server itself
	for pass := 0; b.Loop(); pass++ {
		requests := l.Requests
		if l.Fresh != nil {
			if requests, err = l.Fresh(process.nextPass(b.Name())); err != nil {
				fail("pass %d: %v", pass, err)
			}
			if err := l.checkCount(len(requests)); err != nil {
				fail("pass %d: %v", pass, err)
			}
		}
		posts, err := l.bodies(t, requests)
		if err != nil {
			fail("%v", err)
		}
		if observer != nil {
			if err := observer.Before(ctx); err != nil {
				fail("pass %d: before it: %v", pass, err)
			}
		}
		done := c.progress(b, cfg.progress, pass, samplesOf(posts))
		samples, err := c.pass(ctx, &l, posts)
		done()
		if observer != nil {
			var observeErr error
			if figures, observeErr = observer.After(ctx); observeErr != nil {
				b.Logf("pass %d: what the server says of itself: %v", pass, observeErr)
				figures = nil
			}
		}
		if samples == nil {
			fail("%v", err)
		}
		if c.clockSet != 0 {
			b.Logf("pass %d: the wall clock was set by %v: the kernel's stamps do not count, instants are those of the client's reads, and the control, which is measured by stamps, tells nothing", pass, c.clockSet)
		}
		for i := range samples {
			samples[i].Pass = pass
		}
		if err := rec.write(samples); err != nil {
			fail("records: %v", err)
		}
		if err != nil {
			fail("pass %d: %v", pass, err)
		}
		if asked, achieved, ok := sample.AchievedRate(samples); ok && math.Abs(achieved-asked) > toleratedMiss*asked {
			b.Logf("pass %d: %.4g requests per second were asked for, and %.4g sent", pass, asked, achieved)
		}
		if counter, ok := observer.(Counter); ok && ctx.Err() == nil {
			differs, exact, countErr := checkCounts(ctx, counter, samples)
			if countErr != nil {
				b.Logf("pass %d: what the server counted: %v", pass, countErr)
			}
			if differs != "" && exact {
				fail("pass %d: %s", pass, differs)
			} else if differs != "" { // its counters may be those of one process of several
				b.Logf("pass %d: %s", pass, differs)
			}
		}
		if ctx.Err() != nil { // what was given up is no result, whatever is tolerated
			fail("pass %d: %v", pass, context.Cause(ctx))
		}
		if text := tooManyFailed(samples, l.MaxFail); text != "" {
			fail("pass %d: %s", pass, text)
		}
		total += sample.Elapsed(samples)
		distorted.Add(distortion.Pass{Samples: samples, Pauses: c.idles.all, Errors: c.errors, Strain: c.strain})
		all = append(all, samples...)
	}
	s := sample.Summarize(all, total, l.SLO)
	process.setLast(s)
	units := l.units()
	if l.Figures != nil {
		more := l.Figures(all)
		if unknown := unknownUnits(units, more); len(unknown) > 0 {
			b.Errorf("load: figures %q; want names of Load.Units or of the catalogue", unknown)
		}
		s.Add(more)
	}
	s.Add(figures)
	shown := l.shown(cfg)
	r := distorted.Report(units, s.Metrics, l.MaxDistortion, shown)
	s.Metrics[sample.ClientError] = 100 * r.Worst
	if withheld := r.Units; len(withheld) > 0 {
		b.Log(r.Text)
		if bound != BoundReported {
			end.Withheld = withheld
			for _, unit := range withheld {
				delete(s.Metrics, unit)
			}
			l.tell(withheld)
		}
		if bound == BoundFails {
			end.Why = "client-bound: " + r.Text
			b.Errorf("client-bound: LLMBENCH_CLIENT_BOUND=withhold or report tolerates it%s", rec.where())
		}
	}
	if text := over(all); text != "" {
		b.Log(text)
	}
	report(b, units, s, shown)
	if len(end.Withheld) == 0 || bound != BoundFails {
		end.Outcome, end.Why = endedOK, ""
	}
	return all
}

// toleratedMiss is the share by which the achieved rate of an open loop may miss the
// asked one without a word.
const toleratedMiss = 0.01

// warmUp sends what is to be sent before the first pass.
func (c *client) warmUp(ctx context.Context, l *Load) error {
	if len(l.Warmup) == 0 {
		return nil
	}
	posts, err := l.bodies(c.target, l.Warmup)
	if err != nil {
		return err
	}
	samples, err := c.pass(ctx, l, posts)
	c.gap = typicalGap(samples)
	if err == nil {
		err = context.Cause(ctx)
	}
	if text := tooManyFailed(samples, l.MaxFail); err == nil && text != "" {
		err = errors.New(text)
	}
	return err
}

// report hands the summary's metrics to b. It runs after the last b.Loop, which
// deletes what was reported before.
func report(b *testing.B, units []sample.Unit, s sample.Summary, shown func(sample.Unit) bool) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // the time of a pass is req/s the other way round
	for _, u := range units {
		v, known := s.Metrics[u.Name]
		if known && shown(u) {
			b.ReportMetric(v, u.Name)
		}
		if u.Name != "steady-output-tok/s" || !shown(u) {
			continue
		}
		for _, p := range s.Steady {
			if p.Why != "" {
				b.Logf("pass %d: no steady state: %s", p.Pass, p.Why)
			}
		}
	}
	if len(s.Sources) > 1 || s.Sources[sample.FromUsage] == 0 && s.Outcomes[sample.OK] > 0 {
		b.Logf("output tokens were not all stated by the server: %s", tally(s.Sources))
	}
	if len(s.Clocks) > 1 {
		b.Logf("not all instants are the kernel's: requests by clock: %s", tally(s.Clocks))
	}
	if s.Connected > 0 {
		b.Logf("%d of %d requests had to open a connection; the time it took is in their latency, and in the records", s.Connected, s.Requests)
	}
	if s.Resent > 0 {
		b.Logf("the server closed kept connections: %d of %d requests were sent again", s.Resent, s.Requests)
	}
}

// tooManyFailed says what went wrong when the share of failed requests is above
// what is tolerated, and else nothing.
func tooManyFailed(samples []sample.Sample, tolerated float64) string {
	outcomes := map[sample.Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed := 0
	for i := range samples {
		s := &samples[i]
		if s.Outcome == sample.OK || s.Outcome == sample.Left {
			continue
		}
		failed++
		outcomes[s.Outcome]++
		if text := s.Err.Error(); !seen[text] && len(shown) < 5 {
			seen[text] = true
			shown = append(shown, fmt.Sprintf("\n  request %d %s: %s: %s", i, s.ID, s.Outcome, text))
		}
	}
	if float64(failed)/float64(len(samples)) <= tolerated {
		return ""
	}
	return fmt.Sprintf("%d of %d requests failed, %.4g%% are tolerated: %s%s",
		failed, len(samples), 100*tolerated, tally(outcomes), strings.Join(shown, ""))
}

// tally writes counts like "truncated 2, http 1", in order of the names.
func tally[K ~string](counts map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(parts, ", ")
}
