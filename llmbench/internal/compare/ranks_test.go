package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchmath"
	"gotest.tools/v3/assert"
)

// TestChance compares the test of one load with the U test of benchmath.
func TestChance(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s stratum
		for range 1 + chance.IntN(6) {
			s.a = append(s.a, chance.Float64())
		}
		for range 1 + chance.IntN(6) {
			s.b = append(s.b, chance.Float64())
		}
		got := chanceOf([]stratum{s})
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(s.a, &benchmath.DefaultThresholds), benchmath.NewSample(s.b, &benchmath.DefaultThresholds))
		assert.Assert(t, math.Abs(got-want.P) < 1e-9, "%v: %v, want %v", s, got, want.P)
	}
}

// TestChanceOverLoads checks the test of several loads.
func TestChanceOverLoads(t *testing.T) {
	apart := stratum{[]float64{4, 5, 6}, []float64{1, 2, 3}}
	for _, c := range []struct {
		name string
		all  []stratum
		p    float64
	}{
		{"one sample each", []stratum{{[]float64{2}, []float64{1}}}, 1},
		{"three samples each", []stratum{apart}, 0.1},
		{"at two loads", []stratum{apart, apart}, 2.0 / 400},
		{"against each other", []stratum{apart, {apart.b, apart.a}}, 1},
		{"all equal", []stratum{{[]float64{1, 1, 1}, []float64{1, 1, 1}}}, 1},
		{"no samples", nil, 1},
	} {
		p := chanceOf(c.all)
		assert.Assert(t, math.Abs(p-c.p) < 1e-9, "%s: %v, want %v", c.name, p, c.p)
	}
}

// TestChanceOfTies compares the distribution for samples with ties with a count of all exchanges.
func TestChanceOfTies(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var all []stratum
		for range 1 + chance.IntN(2) {
			var s stratum
			for range 1 + chance.IntN(3) {
				s.a = append(s.a, float64(chance.IntN(3)))
			}
			for range 1 + chance.IntN(3) {
				s.b = append(s.b, float64(chance.IntN(3)))
			}
			all = append(all, s)
		}
		wins, pairs := ahead(all)
		far, n := 0, 0
		exchanges(all, nil, func(e []stratum) {
			w, _ := ahead(e)
			n++
			if math.Abs(w-pairs/2) >= math.Abs(wins-pairs/2)-1e-9 {
				far++
			}
		})
		got := chanceOf(all)
		assert.Assert(t, math.Abs(got-float64(far)/float64(n)) < 1e-9, "%v: %v, want %d of %d", all, got, far, n)
	}
}

// exchanges calls f for all exchanges of samples within strata.
func exchanges(all, done []stratum, f func([]stratum)) {
	if len(all) == 0 {
		f(done)
		return
	}
	values := append(append([]float64{}, all[0].a...), all[0].b...)
	for mask := range 1 << len(values) {
		var s stratum
		for i, v := range values {
			if mask>>i&1 == 1 {
				s.a = append(s.a, v)
			} else {
				s.b = append(s.b, v)
			}
		}
		if len(s.a) == len(all[0].a) {
			exchanges(all[1:], append(done[:len(done):len(done)], s), f)
		}
	}
}

// TestChanceOfMany checks that the approximation for many samples is close to the exact test.
func TestChanceOfMany(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var s stratum
		for range 20 {
			s.a, s.b = append(s.a, math.Round(10*chance.NormFloat64()+4)), append(s.b, math.Round(10*chance.NormFloat64()))
		}
		all := []stratum{s, {s.b[:10], s.a[:15]}}
		p := exactly(all)
		q := nearly(all)
		assert.Assert(t, math.Abs(p-q) < 0.01, "%v exactly, %v nearly", p, q)
	}
}
