package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// durationsOf returns n durations below 1<<bits nanoseconds, each a multiple of step. If step is even, some
// are negative.
func durationsOf(rng *rand.Rand, n, bits int, step int64) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(rng.Int64N(1<<bits) / step * step)
		if step%2 == 0 && rng.IntN(50) == 0 {
			all[i] = -all[i] >> (bits / 2)
		}
	}
	return all
}

// checkDistribution compares the results of a Distribution with the results of sorting.
func checkDistribution(t *testing.T, all []time.Duration, rounds int) {
	var d Distribution
	var sum time.Duration
	for _, v := range all {
		d.Add(v)
		sum += v
	}
	sorted := slices.Sorted(slices.Values(all))
	assert.Equal(t, d.N(), len(all))
	assert.Equal(t, d.Mean(), float64(sum)/float64(len(all)))
	for _, qs := range [][]float64{{0.5, 0.99}, {0.9, 0.99, 0, 1, 0.999}, {0.123}} {
		n := 0
		for d.Wants(qs...) {
			if n++; n > rounds {
				t.Fatalf("%d durations were wanted more than %d times", len(all), rounds)
			}
			for _, v := range all {
				d.Again(v)
			}
		}
		for _, q := range qs {
			want := Quantile(sorted, q)
			assert.Equal(t, d.Quantile(q), want, "the %v-quantile of %d", q, len(all))
			if want >= 0 && len(all) > few {
				sketch, rank := d.Sketch(q), float64(sorted[int(q*float64(len(all)-1))])
				assert.Assert(t, math.Abs(sketch-rank) <= 1+0.002*rank, "Sketch(%v) = %v, want about %v", q, sketch, rank)
			}
		}
	}
}

// TestDistribution compares quantiles with quantiles of sorted durations. The durations are few or many,
// spread or equal, and short or as long as possible.
func TestDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 100, few, few + 1, 5 * few} {
		for _, c := range []struct {
			bits   int
			step   int64
			rounds int
		}{{0, 1, 0}, {10, 1, 0}, {20, 1, 1}, {20, 1 << 18, 1}, {31, 2, 2}, {31, 1 << 29, 2}, {62, 1, 4}, {62, 1 << 60, 4}} {
			checkDistribution(t, durationsOf(rng, n, c.bits, c.step), c.rounds)
		}
	}
	all := durationsOf(rng, 3*few, 30, 1)
	for i := range all[:2*few] {
		all[i] = 5_000_001 // in virtual time, most gaps are equal
	}
	checkDistribution(t, append(all, math.MaxInt64/(1<<20)), 2)
}

// FuzzDistribution compares quantiles with quantiles of sorted durations.
func FuzzDistribution(f *testing.F) {
	f.Add(uint64(1), uint16(40000), uint8(30), int64(7))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, bits uint8, step int64) {
		if n == 0 || step < 1 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		all := durationsOf(rng, int(n), int(bits)%47, step)
		checkDistribution(t, append(all, durationsOf(rng, int(n)/3, 1+int(bits)%9, 1)...), 4)
	})
}

// TestBuckets checks that buckets are in the order of values.
func TestBuckets(t *testing.T) {
	assert.Equal(t, bucketOf(-100_000), 0)
	for v, last := int64(0), -1; v < 1<<62; v += 1 + v/700 {
		b := bucketOf(v)
		assert.Assert(t, lowest(b) <= v && v < lowest(b+1), "lowest(%d) = %d, lowest(%d) = %d around %d", b, lowest(b), b+1, lowest(b+1), v)
		assert.Assert(t, b >= last && b < buckets, "bucketOf(%d) = %d after %d", v, b, last)
		last = b
	}
	assert.Assert(t, bucketOf(math.MaxInt64) < buckets)
}

// TestSum compares sums, in any order, with sums of integers.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		// These are multiples of 2^-40 below 2^22, so that the exact sum fits into 63 bits.
		var exact int64
		var all []float64
		for range 1 + rng.IntN(60) {
			n := rng.Int64N(1<<57) >> rng.IntN(57)
			if rng.IntN(2) == 0 {
				n = -n
			}
			n = n >> 5 << 5 >> rng.IntN(6) // some have few digits, so that there are ties
			if int64(float64(n)) != n {
				continue
			}
			exact += n
			all = append(all, math.Ldexp(float64(n), -40))
		}
		want := math.Ldexp(float64(exact), -40)
		for range 5 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			var s sum
			for _, x := range all {
				s.add(x)
			}
			assert.Equal(t, s.value(), want)
		}
	}
}
