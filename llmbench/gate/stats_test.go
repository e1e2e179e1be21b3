package gate

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// permuted returns the p-value of pLess by its definition: the share of all divisions
// of the values into two samples whose U is not larger.
func permuted(xs, ys []float64) float64 {
	all := append(append([]float64{}, xs...), ys...)
	u := func(mask uint) (u float64) {
		for i, x := range all {
			for j, y := range all {
				if mask>>i&1 == 1 && mask>>j&1 == 0 {
					if x > y {
						u++
					} else if x == y {
						u += 0.5
					}
				}
			}
		}
		return u
	}
	given := u(1<<len(xs) - 1)
	var less, ways float64
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) == len(xs) {
			ways++
			if u(mask) <= given {
				less++
			}
		}
	}
	return less / ways
}

// TestPLessIsExact compares p-values with those of permuted, with and without ties.
func TestPLessIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, size := range [][2]int{{1, 1}, {1, 4}, {2, 5}, {3, 3}, {5, 2}, {4, 5}, {6, 6}} {
		for _, kinds := range []int{1, 2, 3, 5, 1000} {
			for range 10 {
				var samples [2][]float64
				for side, n := range size {
					for range n {
						samples[side] = append(samples[side], float64(r.IntN(kinds)))
					}
				}
				xs, ys := samples[0], samples[1]
				if got, want := pLess(xs, ys), permuted(xs, ys); math.Abs(got-want) > 1e-12 {
					t.Errorf("pLess(%v, %v) = %v, want %v", xs, ys, got, want)
				}
			}
		}
	}
}

func TestPWorse(t *testing.T) {
	flat := func(v float64) []float64 { return []float64{v, v, v, v, v, v} }
	const separate = 1. / 924 // 1/C(12,6)
	for _, c := range []struct {
		cell
		want float64
	}{
		{cell{flat(100), flat(100), -1, 0}, 1},
		{cell{flat(100), flat(101), -1, 0}, separate},
		{cell{flat(100), flat(99), -1, 0}, 1},
		{cell{flat(100), flat(99), +1, 0}, separate},
		{cell{flat(100), flat(101), +1, 0}, 1},
		// Worse by exactly the margin is allowed, although 1.15*100 < 115 in floating point.
		{cell{flat(100), flat(115), -1, 0.15}, 1},
		{cell{flat(100e-9), flat(115 * 1e-9), -1, 0.15}, 1},
		{cell{flat(100), flat(115.1), -1, 0.15}, separate},
		{cell{flat(100), flat(98), +1, 0.02}, 1},
		{cell{flat(100), flat(97.9), +1, 0.02}, separate},
		// A baseline of 0 allows only 0.
		{cell{flat(0), flat(0), -1, 0.02}, 1},
		{cell{flat(0), flat(3), -1, 0.02}, separate},
		{cell{flat(0), []float64{0, 0, 0, 0, 0, 3}, -1, 0.02}, 0.5},
	} {
		if got := c.pWorse(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v.pWorse() = %v, want %v", c.cell, got, c.want)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		ps     []float64
		family int
		want   []float64
	}{
		{nil, 3, []float64{}},
		{[]float64{0.01}, 1, []float64{0.01}},
		// The example of R's p.adjust(c(0.01, 0.04, 0.03), "holm").
		{[]float64{0.01, 0.04, 0.03}, 3, []float64{0.03, 0.06, 0.06}},
		{[]float64{0.01, 0.01, 0.5, 1}, 4, []float64{0.04, 0.04, 1, 1}},
		// Tests that are not in ps count too.
		{[]float64{0.01, 0.02}, 10, []float64{0.1, 0.18}},
	} {
		got := holm(c.ps, c.family)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("holm(%v, %d) mismatch (-want +got):\n%s", c.ps, c.family, diff)
		}
	}
}

func TestMinSamples(t *testing.T) {
	for _, c := range []struct {
		family int
		alpha  float64
		want   int
	}{
		{1, 0.025, 4}, {2, 0.025, 5}, {6, 0.025, 5}, {7, 0.025, 6},
		{23, 0.025, 6}, {24, 0.025, 7}, {85, 0.025, 7}, {86, 0.025, 8}, {321, 0.025, 8}, {322, 0.025, 9},
		{1, 0.05, 3}, {1, 0.5, 1},
	} {
		if got := minSamples(c.family, c.alpha); got != c.want {
			t.Errorf("minSamples(%d, %v) = %d, want %d", c.family, c.alpha, got, c.want)
		}
		// The minimum must suffice for samples that do not overlap.
		old, new := make([]float64, c.want), make([]float64, c.want)
		for i := range old {
			old[i], new[i] = float64(i), float64(100+i)
		}
		if j := testCells([]cell{{old, new, -1, 0}}, c.family); !atMost(j[0].holm, c.alpha) {
			t.Errorf("testCells(%d apart, %d) = %v, want at most %v", c.want, c.family, j[0].holm, c.alpha)
		}
	}
	for _, c := range []struct {
		n1, n2, family int
		want           bool
	}{
		{3, 8, 4, true}, {3, 8, 5, false}, // C(11,3) = 165
		{1, 40, 1, true}, {1, 38, 1, false},
		{0, 100, 1, false}, {5000, 5000, 1000, true},
	} {
		if got := enough(c.n1, c.n2, c.family, 0.025); got != c.want {
			t.Errorf("enough(%d, %d, %d, 0.025) = %t, want %t", c.n1, c.n2, c.family, got, c.want)
		}
	}
}

// TestCriticalU checks that criticalU agrees with pLess, below and above the limit of
// the exact computation.
func TestCriticalU(t *testing.T) {
	for _, c := range []struct{ n1, n2, want int }{{10, 10, 9}, {6, 6, -1}, {7, 7, 1}, {0, 5, -1}} {
		if got := criticalU(c.n1, c.n2, 0.025/40); got != c.want {
			t.Errorf("criticalU(%d, %d, 0.025/40) = %d, want %d", c.n1, c.n2, got, c.want)
		}
	}
	for _, n := range []int{12, 50, 51, 80} {
		u := criticalU(n, n, 0.001)
		for _, d := range []int{0, 1} { // a pair of samples with U = u+d
			xs, ys := make([]float64, n), make([]float64, n)
			left := u + d
			for i := range n {
				ys[i] = float64(i)
				above := min(n, left) // number of ys below xs[i]
				left -= above
				xs[i] = float64(above) - 0.75 + 0.5*float64(i)/float64(n)
			}
			if got := pLess(xs, ys) <= 0.001; got != (d == 0) {
				t.Errorf("criticalU(%d, %d, 0.001) = %d, but pLess of U = %d is %v", n, n, u, u+d, pLess(xs, ys))
			}
		}
	}
}

func TestDetectableUnknown(t *testing.T) {
	flat := []float64{7, 7, 7, 7, 7, 7}
	zero := make([]float64, 6)
	for _, c := range []struct {
		cell
		want float64
	}{
		{cell{flat, flat, -1, 0.05}, 0.05}, // any change beyond the margin
		{cell{flat, flat, +1, 0.05}, -0.05},
		{cell{zero, zero, -1, 0.05}, math.NaN()},
		{cell{zero, flat, -1, 0.05}, math.NaN()},
		{cell{[]float64{1, 2, 3}, []float64{1, 2, 3}, -1, 0.05}, math.NaN()}, // too few
	} {
		got := c.detectable(1, plan{final: 0.025})
		if math.Abs(got-c.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%+v.detectable() = %v, want %v", c.cell, got, c.want)
		}
	}
}
