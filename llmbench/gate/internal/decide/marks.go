package decide

import (
	"cmp"
	"math"
	"slices"
)

// marksShare is the part of alpha for the test after each round, [Plan.Marks]. The rest is for the tests at the looks,
// and is large enough that six rounds suffice for one row, and seven for more.
const marksShare = 0.2

// Marks tests cells of pairs with Marks after any round. At a look they are also tested with the other cells. found has
// an element for each cell: whether new has the mark in each of the first rounds in which exactly one side has it, and
// whether these rounds are enough. rest is the plan with what is left of alpha for its looks.
//
// If the versions are equal, each of these rounds is a fair coin, so that a cell with m such rounds is found by chance
// with a probability of 1/2^m, however often the test is repeated. The cells divide a fifth of alpha in the order of
// their first marks, which does not depend on which version has them: the first one needs the fewest rounds, each
// further one at least one round more. Looks before the first mark have spent their alpha already, so that only a fifth
// of what later looks have is divided.
func (p Plan) Marks(cells []Cell) (rest Plan, found []bool) {
	found = make([]bool, len(cells))
	var order []int
	first := make([]int, len(cells)) // the round with the first mark, from 1
	for i, c := range cells {
		if at := c.firstMark(); at >= 0 && c.NewFirst != nil {
			first[i], order = at+1, append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
	if len(order) == 0 {
		return p, found
	}
	level := 0.
	for _, l := range p.Looks {
		if l.Samples >= first[order[0]] {
			level += marksShare * l.Alpha
		}
	}
	need := roundsFor(level)
	if first[order[0]]-1+need > p.Rounds {
		return p, found // the rounds do not suffice, so nothing is spent
	}
	for n, i := range order {
		if n == 1 {
			need = roundsFor(level - math.Pow(2, -float64(need)))
		}
		found[i] = cells[i].allWorse(need + n)
	}
	rest = Plan{Rounds: p.Rounds, Looks: slices.Clone(p.Looks)}
	for i := range rest.Looks {
		rest.Looks[i].Alpha *= 1 - marksShare
	}
	return rest, found
}

// roundsFor returns the smallest number of fair coins that all show the same given side with a probability of at most
// level. It returns a number of rounds that no plan has if level is 0.
func roundsFor(level float64) int {
	if !(level > 0) {
		return 1 << 30
	}
	return int(math.Ceil(-math.Log2(level) - 1e-9))
}

// firstMark returns the first round in which a side has a mark, from 0, or -1.
func (c Cell) firstMark() int {
	for i := range c.Old {
		if c.Old[i]+c.New[i] > 0 {
			return c.round(i)
		}
	}
	return -1
}

// allWorse reports whether there are n rounds in which exactly one side has the mark, and new has it in the first n of
// them.
func (c Cell) allWorse(n int) bool {
	for i := range c.Old {
		switch {
		case n == 0:
			return true
		case c.New[i] < c.Old[i]:
			return false
		case c.New[i] > c.Old[i]:
			n--
		}
	}
	return n == 0
}

// fisher returns the one-sided p-values of Fisher's exact test of marks that are not pairs: the probability that new has
// at least, and at most, as many marks, if the marks of both sides are dealt to the samples at random ("The Logic of
// Inductive Inference", 1935, https://doi.org/10.2307/2342435).
func (c Cell) fisher() (worse, less float64) {
	count := func(xs []float64) (n int) {
		for _, x := range xs {
			n += int(x)
		}
		return n
	}
	n, marked, all := len(c.New), count(c.Old)+count(c.New), len(c.Old)+len(c.New)
	have := count(c.New)
	for k := max(0, marked-len(c.Old)); k <= min(n, marked); k++ {
		p := math.Exp(logChoose(n, k) + logChoose(all-n, marked-k) - logChoose(all, marked))
		if k >= have {
			worse += p
		}
		if k <= have {
			less += p
		}
	}
	return min(1, worse), min(1, less)
}

// logChoose returns the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	lg := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	return lg(n) - lg(k) - lg(n-k)
}
