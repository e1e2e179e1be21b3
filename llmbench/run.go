package llmbench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Run measures t under l as benchmark b, and returns the samples of every pass.
//
// One op is one pass over the load's requests: it begins with the first send
// and ends when the last response has ended. So -benchtime=1x is one pass, 3x
// pools three, and 10s as many whole passes as fill ten seconds. Warm-up and the opening of
// connections come before the first pass and are not measured.
//
// Run reports the core units of [Units], or all of them with LLMBENCH_UNITS=all,
// instead of ns/op, and writes each request to a file in LLMBENCH_OUT. It fails
// b as soon as a pass has more failed requests than the load tolerates, with
// what went wrong; the records are written all the same.
//
// It must be called at most once in a benchmark function, by its goroutine.
func Run(b *testing.B, t Target, l Load) []Sample {
	b.Helper()
	Watch(b)
	cfg, err := ReadConfig()
	if err != nil {
		b.Fatal(err)
	}
	if l, err = l.check(); err != nil {
		b.Fatal(err)
	}
	c, err := newClient(t, l.Concurrency)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	ctx := Context(b)
	if ctx.Err() != nil {
		b.Fatal(context.Cause(ctx))
	}
	if err := Announce(b, t); err != nil {
		b.Fatal(err)
	}
	rec, err := newRecorder(cfg.Out, b.Name(), t, l)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := rec.close(); err != nil {
			b.Errorf("records: %v", err)
		}
	}()

	if len(l.Warmup) > 0 {
		posts, err := l.bodies(t, l.Warmup)
		if err != nil {
			b.Fatalf("warm-up: %v", err)
		}
		samples, err := c.pass(ctx, &l, posts)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			b.Fatalf("warm-up: %v", err)
		}
		if text := tooManyFailed(samples, l.MaxFail); text != "" {
			b.Fatalf("warm-up: %s", text)
		}
	}

	var observer Observer
	if t.Observe != nil {
		observer = t.Observe()
	}
	var all []Sample
	var total time.Duration
	var figures map[string]float64 // of the server itself
	for pass := 0; b.Loop(); pass++ {
		requests := l.Requests
		if l.Fresh != nil {
			if requests, err = l.Fresh(process.nextPass(b.Name())); err != nil {
				b.Fatalf("pass %d: %v", pass, err)
			}
			if err := l.checkCount(len(requests)); err != nil {
				b.Fatalf("pass %d: %v", pass, err)
			}
		}
		posts, err := l.bodies(t, requests)
		if err != nil {
			b.Fatal(err)
		}
		if observer != nil {
			if err := observer.Before(ctx); err != nil {
				b.Fatalf("pass %d: before it: %v", pass, err)
			}
		}
		done := c.progress(b, pass, len(posts))
		samples, err := c.pass(ctx, &l, posts)
		done()
		if observer != nil {
			var observeErr error
			if figures, observeErr = observer.After(ctx); observeErr != nil {
				b.Logf("pass %d: what the server says of itself: %v", pass, observeErr)
				figures = nil
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		for i := range samples {
			samples[i].Pass = pass
		}
		if err := rec.write(samples); err != nil {
			b.Errorf("records: %v", err)
		}
		if ctx.Err() != nil { // what was given up is no result, whatever is tolerated
			b.Fatalf("pass %d: %v%s", pass, context.Cause(ctx), rec.where())
		}
		if text := tooManyFailed(samples, l.MaxFail); text != "" {
			b.Fatalf("pass %d: %s%s", pass, text, rec.where())
		}
		total += elapsed(samples)
		all = append(all, samples...)
	}
	s := Summarize(all, total, l.SLO)
	for unit, v := range figures {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Metrics[unit] = v
		}
	}
	report(b, s, l, cfg.AllUnits)
	return all
}

// report hands the summary's metrics to b. It runs after the last b.Loop, which
// deletes what was reported before.
func report(b *testing.B, s Summary, l Load, all bool) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // the time of a pass is req/s the other way round
	for _, u := range Units {
		v, known := s.Metrics[u.Name]
		if !known || !u.Core && !all || u.Name == "fail-%" && l.MaxFail == 0 {
			continue
		}
		b.ReportMetric(v, u.Name)
	}
	if len(s.Sources) > 1 || s.Sources[FromUsage] == 0 && s.Outcomes[OK] > 0 {
		b.Logf("output tokens were not all stated by the server: %s", tally(s.Sources))
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
func tooManyFailed(samples []Sample, tolerated float64) string {
	outcomes := map[Outcome]int{}
	var shown []string
	seen := map[string]bool{}
	failed := 0
	for i := range samples {
		s := &samples[i]
		if s.Outcome == OK {
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

// progress logs, with -v, how far a long pass has come; the function it returns
// ends that.
func (c *client) progress(b *testing.B, pass, requests int) (done func()) {
	if !testing.Verbose() {
		return func() {}
	}
	const every = 10 * time.Second
	began, before := time.Now(), c.ended.Load()
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				b.Logf("pass %d: %d of %d requests ended after %v", pass, c.ended.Load()-before, requests, time.Since(began).Round(time.Second))
			}
		}
	})
	return func() { close(quit); wg.Wait() }
}
