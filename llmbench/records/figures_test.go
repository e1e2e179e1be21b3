package records

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestFigures compares the metrics of random runs with the metrics of their samples.
func TestFigures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	steady := 0
	for n := range 150 {
		run := &Run{Head: Head{SLO: "ttft=100ms"}}
		if n%5 == 0 { // the time is over before some answers end
			run.Head.Duration = 800 * time.Millisecond
		}
		if n%10 == 0 { // and the first requests are a warm-up
			run.Head.WarmupFor = 300 * time.Millisecond
		}
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
			s.From, s.Until = run.Head.WarmupFor, run.Head.until()
			if rng.IntN(3) == 0 {
				for range s.Deltas {
					s.DeltaTokens = append(s.DeltaTokens, 1+rng.Int32N(4))
				}
			}
			samples = append(samples, s)
			q := Request{Outcome: s.Outcome, TokenSource: s.TokenSource, Due: s.Due, Start: s.Start, First: s.First, Last: s.Last, End: s.End,
				Deltas: int32(s.Deltas), PromptTokens: int32(s.PromptTokens), OutputTokens: int32(s.OutputTokens), Streamed: true, Scheduled: s.Scheduled, Line: int32(i), DeltaTokens: s.DeltaTokens}
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
		measured := 0
		for range run.Measured() {
			measured++
		}
		assert.Equal(t, measured, run.Figures().Requests)
		assert.Equal(t, run.Elapsed(), sample.Elapsed(sample.All(samples...)))
		want := sample.Summarize(sample.All(samples...), run.Elapsed(), run.Head.Limits())
		assert.DeepEqual(t, run.Figures(), want)
		if _, ok := want.Metrics["steady-output-tok/s"]; ok {
			steady++
		}
	}
	assert.Assert(t, steady > 20, "%d", steady)
}

// TestDist compares ranks and quantiles with those found by sorting.
func TestDist(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var d Dist
	var all []time.Duration
	var q Request
	for range 70_000 {
		v := time.Duration(rng.Int64N(1 << rng.IntN(40)))
		all = append(all, v)
		if v < math.MaxUint32 {
			q.Last += v
			q.gaps.short = append(q.gaps.short, uint32(v))
		} else {
			d.Add(v)
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
	sketch := d.Sketch(qs...)
	var sum time.Duration
	for i, v := range d.Quantiles(qs...) {
		assert.Equal(t, v, sample.Quantile(all, qs[i]))
		assert.Assert(t, math.Abs(v-sketch[i]) <= 1+0.002*v, "Sketch(%v) = %v, want about %v", qs[i], sketch[i], v)
	}
	for _, v := range all {
		sum += v
	}
	assert.Equal(t, d.Mean(), float64(sum)/float64(d.N))
}

// TestAddTokenGaps checks the gaps between tokens: a gap between deltas is divided by the number of tokens
// of the later delta. Requests with an unknown number of tokens have none.
func TestAddTokenGaps(t *testing.T) {
	var d Dist
	d.AddTokenGaps(&Request{gaps: gaps{short: []uint32{100, 100}}})
	assert.Equal(t, d.N, 0)
	d.AddTokenGaps(&Request{gaps: gaps{short: []uint32{100, 90}}, DeltaTokens: []int32{1, 4, 3}})
	assert.Equal(t, d.N, 7)
	assert.DeepEqual(t, d.Quantiles(0, 1), []float64{25, 30})
}
