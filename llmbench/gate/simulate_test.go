package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sd is the simulated relative standard deviation between fresh starts.
const sd = 0.02

// noises are random factors with a mean of about 1 and a standard deviation of sd, for
// the i-th of n samples. The factors of drift depend on i in the same way for old and
// new, because old and new are measured in turn.
var noises = []struct {
	name   string
	factor func(r *rand.Rand, i, n int) float64
}{
	{"normal", func(r *rand.Rand, i, n int) float64 { return 1 + sd*r.NormFloat64() }},
	{"lognormal", func(r *rand.Rand, i, n int) float64 { return math.Exp(sd * r.NormFloat64()) }},
	{"heavy tail", func(r *rand.Rand, i, n int) float64 {
		// Student's t with 3 degrees of freedom, whose variance is 3.
		var chi float64
		for range 3 {
			z := r.NormFloat64()
			chi += z * z
		}
		return math.Exp(sd / math.Sqrt(3) * r.NormFloat64() / math.Sqrt(chi/3))
	}},
	{"drift", func(r *rand.Rand, i, n int) float64 {
		// A ramp of 4 % has a standard deviation of 1.2 %.
		return 1 + 0.04*(float64(i)/float64(n-1)-0.5) + 0.016*r.NormFloat64()
	}},
}

// simulate returns a cell with n samples a side, whose new samples are worse by the
// share worse.
func simulate(r *rand.Rand, factor func(r *rand.Rand, i, n int) float64, n, better int, margin, worse float64) cell {
	c := cell{old: make([]float64, n), new: make([]float64, n), better: better, margin: margin}
	for i := range n {
		c.old[i] = 100 * factor(r, i, n)
		c.new[i] = 100 * factor(r, i, n) * (1 - float64(better)*worse)
	}
	return c
}

// rate returns the share of trials in which any of several cells is a regression. The
// first cell is worse by the share worse.
func rate(r *rand.Rand, factor func(r *rand.Rand, i, n int) float64, trials, cells, n int, margin, worse float64) float64 {
	found := 0
	for range trials {
		all := []cell{simulate(r, factor, n, +1, margin, worse)}
		for i := 1; i < cells; i++ {
			all = append(all, simulate(r, factor, n, 1-2*(i%2), margin, 0))
		}
		if slices.ContainsFunc(testCells(all, cells), func(v pValues) bool { return atMost(v.holm, DefaultAlpha) }) {
			found++
		}
	}
	return float64(found) / float64(trials)
}

// TestFalseAlarms compares equal versions. With a margin there are hardly any false
// alarms; without a margin, the bound of Holm's method holds.
func TestFalseAlarms(t *testing.T) {
	const trials = 2000
	for i, noise := range noises {
		got := rate(rand.New(rand.NewPCG(1, uint64(i))), noise.factor, trials, 40, 10, 0.005, 0)
		t.Logf("%s, margin 0.5%%: %.2f%%", noise.name, 100*got)
		if got > 0.01 {
			t.Errorf("rate(%s, margin 0.5%%) = %v, want at most 0.01", noise.name, got)
		}
	}
	got := rate(rand.New(rand.NewPCG(2, 0)), noises[0].factor, trials, 40, 10, 0, 0)
	t.Logf("normal, margin 0%%: %.2f%%", 100*got)
	if limit := DefaultAlpha + 3*math.Sqrt(DefaultAlpha/trials); got > limit {
		t.Errorf("rate(normal, margin 0) = %v, want at most %v", got, limit)
	}
}

// TestPower looks for a loss of 5 % in one of 40 cells. The figures for normal noise are
// those in doc.go.
func TestPower(t *testing.T) {
	const trials = 500
	for i, noise := range noises {
		got := rate(rand.New(rand.NewPCG(3, uint64(i))), noise.factor, trials, 40, 10, 0.005, 0.05)
		t.Logf("%s, margin 0.5%%: %.1f%%", noise.name, 100*got)
		if got < 0.75 {
			t.Errorf("rate(%s, 5%% worse, margin 0.5%%) = %v, want at least 0.75", noise.name, got)
		}
	}
	for margin, want := range map[float64]float64{0: .92, .005: .83, .0075: .77, .01: .70, .02: .35} {
		got := rate(rand.New(rand.NewPCG(4, 0)), noises[0].factor, trials, 40, 10, margin, 0.05)
		t.Logf("normal, margin %g%%: %.1f%%", 100*margin, 100*got)
		if math.Abs(got-want) > 0.05 {
			t.Errorf("rate(normal, 5%% worse, margin %v) = %v, want %v as in doc.go", margin, got, want)
		}
	}
}

// TestDetectable simulates changes of the size that Detectable typically has for equal
// versions, and counts how often the changes are found. With heavy tails, the standard
// deviation is a poor measure of noise: it is uncertain for few samples and too large
// for many, so more changes are found than Power states.
func TestDetectable(t *testing.T) {
	const trials = 1000
	for i, noise := range noises {
		least, most := Power-0.07, Power+0.07
		if noise.name == "heavy tail" {
			least, most = Power-0.13, 1
		}
		for _, c := range []struct {
			n, cells, better int
			margin           float64
		}{{7, 12, +1, 0.02}, {10, 1, -1, 0}, {10, 40, +1, 0.005}, {10, 40, -1, 0.05}, {20, 40, +1, 0.02}, {60, 40, -1, 0}} {
			r := rand.New(rand.NewPCG(uint64(i), uint64(c.n)))
			var printed []float64
			for range 500 {
				printed = append(printed, simulate(r, noise.factor, c.n, c.better, c.margin, 0).detectable(c.cells, plan{final: DefaultAlpha}))
			}
			slices.Sort(printed)
			change := printed[len(printed)/2]
			if change*float64(c.better) >= 0 {
				t.Errorf("%s, %+v: detectable() = %v, want a change for the worse", noise.name, c, change)
			}
			found := 0
			for range trials {
				worse := simulate(r, noise.factor, c.n, c.better, c.margin, math.Abs(change))
				if atMost(testCells([]cell{worse}, c.cells)[0].holm, DefaultAlpha) {
					found++
				}
			}
			got := float64(found) / trials
			t.Logf("%s, %+v: %+.2f%% is found in %.1f%%", noise.name, c, 100*change, 100*got)
			if got < least || got > most {
				t.Errorf("%s, %+v: a change of %v is found in %v of trials, want %v to %v", noise.name, c, change, got, least, most)
			}
		}
	}
}
