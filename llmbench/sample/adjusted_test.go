package sample

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAdjusted compares adjusted percentiles with percentiles of values in which failed requests are longer than any other, as
// numpy computes them.
func TestAdjusted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const never = time.Duration(1 << 60)
	for n := range 130 {
		failures := rng.IntN(1 + n/(1+rng.IntN(40)))
		var samples []Sample
		var ttft []time.Duration
		answers := 0
		for i := range n {
			s := answer(0, float64(1+rng.IntN(50)), 100, 5)
			s.Request, s.End = i, s.Last
			switch d, _ := s.TTFT(); {
			case i < failures:
				s = Sample{Outcome: []Outcome{Shed, HTTP, Canceled}[i%3]}
				ttft = append(ttft, never)
			case rng.IntN(10) == 0:
				s.Outcome = Left
			default:
				answers++
				ttft = append(ttft, d)
			}
			samples = append(samples, s)
		}
		slices.Sort(ttft)
		got := Summarize(All(samples...), time.Second, SLO{})
		for _, st := range []Statistic{P50, P90, P99} {
			unit := "adj-" + unitName(st, "ttft")
			v, known := got.Metrics[unit]
			if failures == 0 || answers == 0 || !st.Enough(len(ttft)) {
				assert.Assert(t, !known && !slices.Contains(got.Unbounded, unit), "%s of %d, %d failed", unit, n, failures)
				continue
			}
			want := Quantile(ttft, float64(st.Percent())/100)
			assert.Equal(t, known, want < 1e10, "%s of %d, %d failed: %v", unit, n, failures, want)
			assert.Equal(t, slices.Contains(got.Unbounded, unit), !known)
			if known {
				assert.Assert(t, v-want < 1 && want-v < 1, "%s: %v, want %v", unit, v, want)
				assert.Assert(t, v >= got.Metrics[unitName(st, "ttft")] || got.Metrics[unitName(st, "ttft")] == 0, "%v", got.Metrics)
			}
		}
	}
}

// TestAdjustedMany checks adjusted percentiles of so many values that not all are kept.
func TestAdjustedMany(t *testing.T) {
	samples := make([]Sample, 50_000)
	for i := range samples {
		samples[i] = answer(0, 1+float64(i*7919%50_000)/1000, 100, 5)
		samples[i].End = samples[i].Last
		if i%1000 == 0 {
			samples[i] = Sample{Outcome: Stalled}
		}
	}
	got := Summarize(All(samples...), time.Second, SLO{}).Metrics
	assert.Assert(t, got["adj-p99-ttft-ns"] > got["p99-ttft-ns"], "%v", got)
	assert.Assert(t, got["adj-p99-ttft-ns"] < got["p99-ttft-ns"]+1e6, "%v", got)
}
