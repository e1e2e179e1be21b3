package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestBoundRank compares ranks with the binomial distribution, built up one trial at a time.
func TestBoundRank(t *testing.T) {
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		below := []float64{1} // probability that a given number of the n values are below the quantile
		for n := 1; n <= 700; n++ {
			below = append(below, 0)
			for i := n; i >= 0; i-- {
				below[i] *= 1 - q
				if i > 0 {
					below[i] += below[i-1] * q
				}
			}
			want, sum := 0, 0.0
			for sum < confidence-1e-12 && want <= n {
				sum += below[want]
				want++
			}
			k, ok := BoundRank(n, q)
			if !ok {
				k = n + 1
			}
			if k != want {
				t.Fatalf("BoundRank(%d, %v) = %d, %v; want %d", n, q, k, ok, want)
			}
		}
	}
}

// TestBoundRankLeast checks the minimum numbers of values that the documents have. It also checks the
// minimum numbers if one or two values may be above the bound (Hahn and Meeker, table 5.14: 299, 473 and
// 628 for 99 %), and that there is no rank for fewer values.
func TestBoundRankLeast(t *testing.T) {
	for _, c := range []struct {
		q     float64
		least int
		above int
	}{{0.5, 5, 0}, {0.9, 29, 0}, {0.95, 59, 0}, {0.99, 299, 0}, {0.999, 2995, 0}, {0.95, 93, 1}, {0.99, 473, 1}, {0.99, 628, 2}} {
		k, ok := BoundRank(c.least, c.q)
		assert.Assert(t, ok)
		assert.Equal(t, k, c.least-c.above, "q %v", c.q)
		k, ok = BoundRank(c.least-1, c.q)
		assert.Assert(t, !ok || k == c.least-c.above, "q %v of %d: %d", c.q, c.least-1, k)
	}
	for _, n := range []int{-1, 0, 1} {
		_, ok := BoundRank(n, 0.99)
		assert.Assert(t, !ok)
	}
	for _, q := range []float64{0, 1, -1, 2, math.NaN()} {
		_, ok := BoundRank(1000, q)
		assert.Assert(t, !ok, "%v", q)
	}
}

// TestBoundRankOfMany compares ranks among many values with the normal approximation.
func TestBoundRankOfMany(t *testing.T) {
	for n := 100_000; n <= 1_000_000_000; n *= 10 {
		k, ok := BoundRank(n, 0.99)
		deviation := math.Sqrt(float64(n) * 0.99 * 0.01)
		got := (float64(k) - 0.99*float64(n)) / deviation
		assert.Assert(t, ok && math.Abs(got-1.645) < 2/deviation+0.02, "%d of %d, %v deviations above", k, n, got)
	}
}

// TestBoundHolds simulates samples from distributions with a known 99th percentile. It counts how often the
// bound is at least this percentile. If all values are distinct, this must be as often as the binomial
// distribution says, which is at least 95 % and not much more. If values are equal, it may be more often.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	const samples = 10_000
	normal := func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) float64
		p99  float64 // the smallest value that is reached with a probability of 0.99
		ties bool
	}{
		{"exponential", (*rand.Rand).ExpFloat64, -math.Log(0.01), false},
		{"log-normal", normal, math.Exp(2.3263478740), false},
		{"Pareto without a variance", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/1.2) }, math.Pow(0.01, -1/1.2), false},
		{"a slow one in sixty", func(r *rand.Rand) float64 {
			if r.IntN(60) == 0 {
				return 10 + r.Float64()
			}
			return r.Float64()
		}, 10.4, false},
		{"whole milliseconds", func(r *rand.Rand) float64 { return math.Ceil(4 * r.ExpFloat64()) }, 19, true},
		{"a slow one in a hundred", func(r *rand.Rand) float64 {
			if r.IntN(100) == 0 {
				return 10
			}
			return 1
		}, 1, true},
		{"slow ones, a little more than a hundredth", func(r *rand.Rand) float64 {
			if r.Float64() < 0.0101 {
				return 10
			}
			return 1
		}, 10, true},
	} {
		counts := []int{299}
		if c.name == "log-normal" {
			counts = []int{299, 473}
		}
		for i, n := range counts {
			r := rand.New(rand.NewPCG(uint64(i), 99))
			p99 := math.Round(c.p99 * 1e6)
			held := 0
			for range samples {
				var d Distribution
				for range n {
					d.Add(time.Duration(math.Round(c.draw(r) * 1e6)))
				}
				if d.WantsRanks() {
					t.Fatal("few values are not known")
				}
				bound, known := statistic(&d, P99Bound)
				assert.Assert(t, known)
				if bound >= p99 {
					held++
				}
			}
			k, _ := BoundRank(n, 0.99)
			claimed := 0.0 // the probability that fewer than k values are below p99
			for above := n - k + 1; above <= min(n, 100); above++ {
				claimed += binomial(n, above, 0.01)
			}
			got, deviation := float64(held)/samples, math.Sqrt(claimed*(1-claimed)/samples)
			t.Logf("%s, %d values: the bound holds in %.2f %% of samples, claimed %.2f %%", c.name, n, 100*got, 100*claimed)
			assert.Assert(t, claimed >= confidence)
			assert.Assert(t, got >= claimed-3.5*deviation, "%s, %d values", c.name, n)
			assert.Assert(t, c.ties || got <= claimed+3.5*deviation, "%s, %d values", c.name, n)
		}
	}
}

// TestBoundOfMany checks the bound of so many values that a Distribution does not keep them: it must still
// be the value at its rank.
func TestBoundOfMany(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	samples := make([]Sample, 3*few)
	var all []time.Duration
	for i := range samples {
		samples[i] = answer(0, 20*r.ExpFloat64(), 1000, 2)
		ttft, _ := samples[i].TTFT()
		all = append(all, ttft)
	}
	slices.Sort(all)
	k, ok := BoundRank(len(all), 0.99)
	assert.Assert(t, ok)
	metrics := Summarize(All(samples...), time.Second, SLO{}).Metrics
	assert.Equal(t, metrics["p99-ttft-bound-ns"], float64(all[k-1]))
	assert.Assert(t, metrics["p99-ttft-bound-ns"] > metrics["p99-ttft-ns"])
	_, has := metrics["p99-itl-bound-ns"]
	assert.Assert(t, !has, "gaps of one answer are not independent")
}
