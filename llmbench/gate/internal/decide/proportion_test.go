package decide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// proportionOf returns the counts as a proportion.
func proportionOf(old, ofOld, new, ofNew int) proportion {
	return proportion{old: old, ofOld: ofOld, new: new, ofNew: ofNew}
}

// TestBinomial compares probabilities with a recursion that makes no approximation.
func TestBinomial(t *testing.T) {
	for _, rate := range []float64{0, 0.01, 0.5, 0.97, 1} {
		want := []float64{1}
		for n := 1; n <= 60; n++ {
			next := make([]float64, n+1)
			for k, q := range want {
				next[k] += q * (1 - rate)
				next[k+1] += q * rate
			}
			want = next
			first, got := binomial(n, rate)
			sum := 0.0
			for i, q := range got {
				assert.Assert(t, math.Abs(q-want[first+i]) < 1e-12, "n %d, rate %v, k %d: %v and %v", n, rate, first+i, q, want[first+i])
				sum += q
			}
			assert.Assert(t, math.Abs(sum-1) < 1e-9, "n %d, rate %v: %v", n, rate, sum)
		}
	}
}

// TestProportionExact computes the probability of a rejection for small samples, by going through
// all counts. It must be at most alpha for every pair of rates that differ by exactly the margin.
func TestProportionExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 25} {
		for _, delta := range []float64{0, 0.02, 0.1} {
			for _, less := range []bool{false, true} {
				rejected := make([][]bool, n+1)
				for x := range n + 1 {
					rejected[x] = make([]bool, n+1)
					for y := range n + 1 {
						rejected[x][y] = proportionOf(x, n, y, n).test(delta, less) <= alpha
					}
				}
				for i := range 101 {
					rate := (1 - delta) * float64(i) / 100
					x0, xs := binomial(n, rate+delta)
					y0, ys := binomial(n, rate)
					sum := 0.0
					for i, q := range xs {
						for j, r := range ys {
							if rejected[x0+i][y0+j] {
								sum += q * r
							}
						}
					}
					assert.Assert(t, sum <= alpha*1.001, "n %d, margin %v, less %t: %.4f at a rate of %.2f", n, delta, less, sum, rate)
				}
			}
		}
	}
}

// draw returns a cell with the counts of n processes on each side. Each process makes 200
// observations.
func draw(r *rand.Rand, n int, old, new, margin float64) Cell {
	c := Cell{Better: 1, Margin: margin, Trials: &Trials{}}
	for range n {
		c.Old, c.Trials.Old = append(c.Old, hits(r, old)), append(c.Trials.Old, questions)
		c.New, c.Trials.New = append(c.New, hits(r, new)), append(c.Trials.New, questions)
	}
	return c
}

// questions is the number of observations that a process makes.
const questions = 200

// hits draws the hits of a process, and returns them as a percentage.
func hits(r *rand.Rand, rate float64) float64 {
	n := 0
	for range questions {
		if r.Float64() < rate {
			n++
		}
	}
	return 100 * float64(n) / questions
}

// prefix returns a cell of proportions with only the first n samples.
func prefix(c Cell, n int) Cell {
	c.Old, c.New, c.Trials = c.Old[:n], c.New[:n], &Trials{Old: c.Trials.Old[:n], New: c.Trials.New[:n]}
	return c
}

// share simulates comparisons as benchgate ab -n makes them, and returns the share in which one of
// the looks finds a regression. Part is the part of alpha that the proportion gets in its family.
func share(trials int, rounds int, part float64, next func(r *rand.Rand) Cell) float64 {
	r := rand.New(rand.NewPCG(uint64(rounds), 22))
	plan, found := NewPlan(rounds, rounds, alpha), 0
	for range trials {
		c := next(r)
		for _, look := range plan.Looks {
			p := prefix(c, look.Samples).proportion()
			if p.loss() > c.Margin && AtMost(p.test(c.Margin, false)/part, look.Alpha) {
				found++
				break
			}
		}
	}
	return float64(found) / float64(trials)
}

// TestProportions simulates comparisons of accuracies. Each process answers 200 questions, the
// margin is two percentage points, and the looks happen when benchgate ab looks. The cell is either
// alone or in a family with other cells. With LLMBENCH_FULL=1 the test makes the table in the doc
// comment of package gate.
func TestProportions(t *testing.T) {
	t.Parallel()
	const rounds, margin = 10, 0.02
	trials, rates := 400, []float64{0.9}
	if os.Getenv("LLMBENCH_FULL") == "1" {
		trials, rates = 2000, []float64{0.5, 0.8, 0.9, 0.95, 0.99}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s", "old accuracy")
	for _, rate := range rates {
		fmt.Fprintf(&b, "%7.0f%%", 100*rate)
	}
	line := func(name string, cell func(rate float64) float64) {
		fmt.Fprintf(&b, "\n%-34s", name)
		for _, rate := range rates {
			fmt.Fprintf(&b, "%7.1f%%", 100*cell(rate))
		}
	}
	loses := func(loss, part float64, n int) func(float64) float64 {
		return func(rate float64) float64 {
			return share(n, rounds, part, func(r *rand.Rand) Cell { return draw(r, rounds, rate, rate-loss, margin) })
		}
	}
	line("equal", func(rate float64) float64 {
		v := loses(0, 1, trials)(rate)
		assert.Assert(t, v <= alpha, "%v", v)
		return v
	})
	line("worse by the margin", func(rate float64) float64 {
		v := loses(margin, 1, trials)(rate)
		chance := 3 * math.Sqrt(alpha*(1-alpha)/float64(trials))
		assert.Assert(t, v <= alpha+chance, "%v: more than chance allows", v)
		return v
	})
	if trials < 2000 {
		assert.Assert(t, loses(0.05, proportionShare, 100)(rates[0]) > 0.4)
		return
	}
	line("worse by 5 points", loses(0.05, 1, 500))
	line("worse by 5 points, other rows", loses(0.05, proportionShare, 500))
	// A greedy server gives the same answer to the same question. So ten processes that ask the
	// same questions count as one observation.
	line("equal, the same questions", func(rate float64) float64 {
		return share(500, rounds, 1, func(r *rand.Rand) Cell {
			one := draw(r, 1, rate, rate, margin)
			c := Cell{Better: 1, Margin: margin, Trials: &Trials{}}
			for range rounds {
				c.Old, c.New = append(c.Old, one.Old...), append(c.New, one.New...)
				c.Trials.Old, c.Trials.New = append(c.Trials.Old, one.Trials.Old...), append(c.Trials.New, one.Trials.New...)
			}
			return c
		})
	})
	b.WriteString("\n")
	golden.Assert(t, b.String(), "proportions.golden")
}

// TestProportionOutcomes checks decisions about counts. The cell is either alone or beside a cell
// that is no proportion.
func TestProportionOutcomes(t *testing.T) {
	const n = 10
	cell := func(old, new, of float64) Cell {
		c := Cell{Better: 1, Margin: 0.02, Trials: &Trials{}}
		for range n {
			c.Old, c.New = append(c.Old, old), append(c.New, new)
			c.Trials.Old, c.Trials.New = append(c.Trials.Old, of), append(c.Trials.New, of)
		}
		return c
	}
	times := Cell{Old: make([]float64, n), New: make([]float64, n), Better: -1, Margin: 0.05}
	for i := range n {
		times.Old[i], times.New[i] = 100+float64(i%3), 90+float64(i%3)
	}
	for _, tt := range []struct {
		name string
		cell Cell
		want Outcome
	}{
		{"all right", cell(100, 100, 200), NoWorse},
		{"all right, of few", cell(100, 100, 6), TooNoisy},
		{"a loss of 5 points", cell(100, 95, 200), Regression},
		{"a gain", cell(90, 95, 200), NoWorse},
	} {
		for _, cells := range [][]Cell{{tt.cell}, {times, tt.cell}} {
			all, settled := Decide(cells, len(cells), n, NewPlan(n, n, alpha), Rules{})
			assert.Equal(t, all[len(all)-1].Outcome, tt.want, tt.name)
			assert.Assert(t, settled)
			if len(cells) == 2 {
				assert.Equal(t, all[0].Outcome, NoWorse)
			}
		}
	}
	lower := cell(5, 10, 200) // the share of errors
	lower.Better = -1
	all, _ := Decide([]Cell{lower}, 1, n, NewPlan(n, n, alpha), Rules{})
	assert.Equal(t, all[0].Outcome, Regression)
	assert.Assert(t, lower.Bound(alpha) > 0.05 && lower.Detectable(1, 0, alpha) > 0.02)
	assert.Equal(t, math.Round(100*lower.Difference()), 5.)
}
