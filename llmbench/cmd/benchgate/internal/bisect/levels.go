package bisect

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A grid has the levels and scales of noise that the model of a Search considers. A level is the difference of a
// commit from the good commit.
type grid struct {
	ok     []float64 // levels within the margin; the first is 0, the level of a commit that changed nothing
	worse  []float64 // levels beyond the margin
	scales []float64
}

// spike is the probability that a commit has the usual level of its side of the margin: 0 before the change, and
// the level of the bad commit after it.
const spike = 0.8

// newGrid returns the grid for pairs of the good and the bad commit.
func newGrid(first []float64, margin float64) grid {
	level, scale := center(first)
	scale = max(scale, level/20) // with less noise the sums of a channel would be inaccurate
	level = max(level, 1.2*margin, margin+scale/4)
	g := grid{ok: []float64{0}}
	const ok, worse, scales = 8, 12, 12
	for i := range ok {
		low := -max(margin, level/2)
		g.ok = append(g.ok, low+(margin-low)*(float64(i)+0.5)/ok)
	}
	for i := range worse {
		g.worse = append(g.worse, margin+(1.5*level-margin)*(float64(i)+0.5)/worse)
	}
	for i := range scales {
		g.scales = append(g.scales, scale*math.Pow(3, 2*float64(i)/(scales-1)-1)) // a third of the scale to three times the scale
	}
	return g
}

// center returns the median of xs, and the scale of their noise, which is never 0.
func center(xs []float64) (middle, scale float64) {
	middle, scale = robust.Spread(xs)
	return middle, max(scale, 1e-4)
}

// density returns the logarithm of the density of noise x with the given scale: Student's t distribution with
// five degrees of freedom.
func density(x, scale float64) float64 {
	z := x / scale
	return -0.9686 - 3*math.Log1p(z*z/5) - math.Log(scale) // the constant is log(8/(3*pi*sqrt(5)))
}

// A table has the logarithms of the likelihoods of the pairs of one comparison.
type table struct {
	pairs     []float64
	ok, worse [][]float64 // of each single level, indexed by scale and level
	allOK     []float64   // of the state "ok", indexed by scale
	allWorse  [][]float64 // of the state "worse", indexed by scale and by the level of the bad commit
}

func (g grid) newTable() *table {
	t := &table{allOK: make([]float64, len(g.scales))}
	for range g.scales {
		t.ok = append(t.ok, make([]float64, len(g.ok)))
		t.worse = append(t.worse, make([]float64, len(g.worse)))
		t.allWorse = append(t.allWorse, make([]float64, len(g.worse)))
	}
	return t
}

// add adds a pair to the table.
func (g grid) add(t *table, x float64) {
	t.pairs = append(t.pairs, x)
	for s, scale := range g.scales {
		for i, level := range g.ok {
			t.ok[s][i] += density(x-level, scale)
		}
		for i, level := range g.worse {
			t.worse[s][i] += density(x-level, scale)
		}
		t.allOK[s] = mixed(t.ok[s][0], meanOf(t.ok[s][1:]))
		others := meanOf(t.worse[s])
		for i := range g.worse {
			t.allWorse[s][i] = mixed(t.worse[s][i], others)
		}
	}
}

// mixed returns the likelihood of a state in which a commit has either the usual level or another one. Its arguments
// are the likelihoods of these two. All are logarithms.
func mixed(usual, others float64) float64 {
	return logSum(math.Log(spike)+usual, math.Log(1-spike)+others)
}

// meanOf returns the logarithm of the mean of likelihoods, given as logarithms.
func meanOf(logs []float64) float64 {
	return logSum(logs...) - math.Log(float64(len(logs)))
}

// logSum returns log(exp(a)+exp(b)+…).
func logSum(logs ...float64) float64 {
	most := slices.Max(logs)
	if math.IsInf(most, -1) {
		return most
	}
	var sum float64
	for _, l := range logs {
		sum += math.Exp(l - most)
	}
	return most + math.Log(sum)
}
