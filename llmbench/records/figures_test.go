package records

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestRoundTrip writes records as benchmarks do, reads them, and compares each
// field with the samples they were written of.
func TestRoundTrip(t *testing.T) {
	mock, err := mockserver.New(mockserver.Config{
		PerToken: time.Millisecond, Shape: shape.Shape{Reasoning: "reasoning", ReasoningTokens: 3},
	})
	assert.NilError(t, err)
	server := httptest.NewServer(mock)
	defer server.Close()
	dir := t.TempDir()
	t.Setenv("LLMBENCH_OUT", dir)
	t.Setenv("LLMBENCH_UNITS", "all")
	for _, l := range []llmbench.Load{
		{Concurrency: 3},
		{Concurrency: 3, NoStream: true},
		{Concurrency: 3, Cancel: llmbench.Cancel{Share: 0.5, Deltas: 3}},
		{Arrivals: arrivals.Poisson{Rate: 200, Seed: 1}},
	} {
		for i := range 12 {
			l.Requests = append(l.Requests, llmbench.Request{Prompt: "a b c", MaxTokens: 1 + 3*i})
		}
		l.Requests[3].Then = []llmbench.Turn{{Prompt: "d", MaxTokens: 5}}
		l.SLO = sample.SLO{E2E: time.Second}
		var samples []sample.Sample
		var passes int
		result := testing.Benchmark(func(b *testing.B) {
			samples = llmbench.Run(b, llmbench.Target{URL: server.URL, Model: "m", Simulated: true}, l)
			passes = samples[len(samples)-1].Pass + 1
		})
		files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		run, err := Open(filepath.Join(dir, fmt.Sprintf(".%d.jsonl", len(files)))) // the benchmark has no name
		assert.NilError(t, err)
		assert.Equal(t, run.Passes(), passes)
		assert.DeepEqual(t, run.End, &End{Outcome: "ok"})
		assert.Assert(t, run.Head.Ends)
		assert.Equal(t, run.Head.Stream, !l.NoStream)
		assert.Equal(t, run.Head.Version, Version)
		if l.Arrivals != nil {
			assert.DeepEqual(t, run.Head.Arrivals, &Arrivals{"poisson", map[string]string{"rate": "200", "seed": "1"}})
		}
		i := 0
		for q := range run.All() {
			s := samples[i]
			want := Request{
				Pass: int32(s.Pass), Line: int32(i + 2), Outcome: s.Outcome, Source: s.TokenSource, Finish: s.Finish,
				Due: s.Due, Start: s.Start, Wrote: s.Wrote, FirstByte: s.FirstByte, First: s.First, Last: s.Last, End: s.End,
				Turn: int32(s.Turn), FirstOutput: s.FirstOutput, Outputs: int32(s.Outputs),
				LastEvent: s.LastEvent, Done: s.Done, Connect: s.Connect, ChoiceFirst: s.Choices.First, ChoiceLast: s.Choices.Last,
				Before: int32(s.Choices.Before), Amid: int32(s.Choices.Amid), After: int32(s.Choices.After), Deltas: int32(s.Deltas),
				Prompt: int32(s.PromptTokens), Output: int32(s.OutputTokens), Cached: int32(s.CachedTokens), MaxTokens: int32(s.MaxTokens), Asked: int32(s.AskedTokens), Status: int32(s.Status),
				PromptChars: int32(s.PromptChars), OutputChars: int32(s.OutputChars), Resent: int32(s.Resent), UsageAlone: s.UsageAlone, Streamed: s.Streamed, Scheduled: s.Scheduled,
				Granted: s.Granted, Admitted: s.Admitted, Clock: s.Clock, gaps: q.gaps, lags: q.lags, Server: q.Server,
			}
			if s.Err != nil {
				want.Error = s.Err.Error()
			}
			assert.DeepEqual(t, *q, want, cmpAll)
			assert.DeepEqual(t, slices.Collect(q.Gaps()), s.Gaps, empty)
			assert.DeepEqual(t, slices.Collect(q.lags.all()), s.Lags, empty)
			if s.Streamed && s.Outcome == sample.OK {
				assert.Assert(t, s.Choices.First > 0 && s.Choices.Last >= s.Last && s.LastEvent >= s.Choices.Last && s.UsageAlone, "%+v", s)
			}
			i++
		}
		assert.Equal(t, i, len(samples))
		// What the benchmark reported is what the records say.
		figures := run.Figures()
		for unit, v := range result.Extra {
			if got, ok := figures.Metrics[unit]; unit != "ns/op" && unit != "client-err-%" && (!ok || got != v) {
				t.Errorf("%s is %v in the records, %v in the result", unit, got, v)
			}
		}
		assert.Assert(t, len(result.Extra) > 8)
	}
}

// TestFigures compares figures of random runs with those of their samples.
func TestFigures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	steady := 0
	for n := range 150 {
		run := &Run{Head: Head{SLO: "ttft=100ms"}}
		var samples []sample.Sample
		var block []Request
		for i := range n {
			s := sample.Sample{Outcome: sample.OK, Streamed: true, TokenSource: sample.FromUsage, PromptTokens: 1 + rng.IntN(9), Scheduled: n%2 == 0}
			if rng.IntN(5) == 0 {
				s.Outcome = sample.Truncated
			}
			s.Due = time.Duration(rng.Int64N(1e9))
			most, longest := 5, int64(5e9)
			if n%3 == 0 { // has a steady state when it is long enough
				s.Due, most, longest = time.Duration(i)*200*time.Millisecond, 20, 1e7
			}
			s.Start = s.Due + time.Duration(rng.Int64N(1e5))
			s.First = s.Start + time.Duration(rng.Int64N(2e8))
			s.Last, s.Deltas = s.First, 1
			for range rng.IntN(most) {
				gap := time.Duration(rng.Int64N(longest))
				s.Gaps, s.Last, s.Deltas = append(s.Gaps, gap), s.Last+gap, s.Deltas+1
			}
			s.OutputTokens, s.End = s.Deltas, s.Last+time.Duration(rng.Int64N(1e6))
			samples = append(samples, s)
			q := Request{Outcome: s.Outcome, Source: s.TokenSource, Due: s.Due, Start: s.Start, First: s.First, Last: s.Last, End: s.End,
				Deltas: int32(s.Deltas), Prompt: int32(s.PromptTokens), Output: int32(s.OutputTokens), Streamed: true, Scheduled: s.Scheduled, Line: int32(i)}
			for _, g := range s.Gaps {
				if g > math.MaxUint32 || q.gaps.long != nil {
					for _, v := range q.gaps.short {
						q.gaps.long = append(q.gaps.long, int64(v))
					}
					q.gaps = gaps{long: append(q.gaps.long, int64(g))}
				} else {
					q.gaps.short = append(q.gaps.short, uint32(g))
				}
			}
			block = append(block, q)
		}
		if n > 0 {
			assert.NilError(t, run.add(block))
		}
		want := sample.Summarize(samples, run.Elapsed(), run.Head.Limits())
		assert.DeepEqual(t, run.Figures(), want)
		if _, ok := want.Metrics["steady-output-tok/s"]; ok {
			steady++
		}
	}
	assert.Assert(t, steady > 20, "%d", steady)
}

// TestRanks compares ranks found by counting with those found by sorting.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var d Dist
	var all []int64
	var q Request
	for range few + 1000 {
		v := rng.Int64N(1 << rng.IntN(40))
		all = append(all, v)
		if v < math.MaxUint32 {
			q.Last += time.Duration(v)
			q.gaps.short = append(q.gaps.short, uint32(v))
		} else {
			d.Add(time.Duration(v))
		}
	}
	d.AddGaps(&q)
	slices.Sort(all)
	assert.Equal(t, d.N, len(all))
	ranks := []int{0, 0, 1, 7, d.N / 2, d.N/2 + 1, d.N - 2, d.N - 1}
	for i, v := range d.Ranks(ranks...) {
		assert.Equal(t, v, float64(all[ranks[i]]))
	}
	qs := []float64{0, 0.1, 0.5, 0.9, 0.999, 1}
	exact := d.Quantiles(qs...)
	for i, v := range d.Sketch(qs...) {
		assert.Assert(t, math.Abs(v-exact[i]) <= 1+0.002*exact[i], "Sketch(%v) = %v, want about %v", qs[i], v, exact[i])
	}
	var sum int64
	for _, v := range all {
		sum += v
	}
	assert.Equal(t, d.Mean(), float64(sum)/float64(d.N))
}

func TestHigh(t *testing.T) {
	for v, last := int64(0), -1; v < 1<<62; v += 1 + v/700 {
		h := high(v)
		assert.Assert(t, lowest(h) <= v && v < lowest(h+1), "lowest(%d) = %d, lowest(%d) = %d around %d", h, lowest(h), h+1, lowest(h+1), v)
		assert.Assert(t, h >= last && h < 1<<16, "high(%d) = %d after %d", v, h, last)
		last = h
	}
}
