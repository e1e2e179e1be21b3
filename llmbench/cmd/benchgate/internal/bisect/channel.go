package bisect

import "math"

// A channel predicts the result of a pair: what would be measured, with what probability.
type channel struct {
	grid   grid
	levels []float64 // the probabilities of grid.worse as the level of the bad commit
	scale  int
	kernel *kernel
	// The prediction for a commit without pairs; nil until it is needed.
	freshOK, freshWorse []float64
}

// A kernel has the densities of results for each level, with noise of one scale.
type kernel struct {
	xs        []float64 // the results
	step      float64   // the distance of neighboring results
	ok, worse [][]float64
}

// kernel returns the kernel for noise of a scale.
func (g grid) kernel(scale float64) *kernel {
	const results = 120
	k := &kernel{}
	low, high := g.ok[1]-4*scale, g.worse[len(g.worse)-1]+4*scale
	k.step = (high - low) / results
	for i := range results {
		k.xs = append(k.xs, low+k.step*(float64(i)+0.5))
	}
	fill := func(levels []float64) (all [][]float64) {
		for _, level := range levels {
			row := make([]float64, results)
			for i, x := range k.xs {
				row[i] = math.Exp(density(x-level, scale))
			}
			all = append(all, row)
		}
		return all
	}
	k.ok, k.worse = fill(g.ok), fill(g.worse)
	return k
}

// information returns the mutual information, in bits, of the next pair with a commit and the commit's state. t
// has the pairs with the commit so far, or is nil; worse is the probability that the commit is worse than
// allowed, above 0 and below 1.
func (ch *channel) information(t *table, worse float64) (bits float64) {
	ifOK, ifWorse := ch.predict(t)
	for i, ok := range ifOK {
		a, b := (1-worse)*ok, worse*ifWorse[i]
		both := a + b
		bits += ch.kernel.step * (a*math.Log2(ok/both) + b*math.Log2(ifWorse[i]/both))
	}
	return max(0, bits)
}

// predict returns the densities of the next result for both states of a commit.
func (ch *channel) predict(t *table) (ifOK, ifWorse []float64) {
	if t == nil && ch.freshOK != nil {
		return ch.freshOK, ch.freshWorse
	}
	ok, bad := make([]float64, len(ch.grid.ok)), make([]float64, len(ch.grid.worse))
	for i := range ok {
		ok[i] = math.Log((1 - spike) / float64(len(ok)-1))
	}
	ok[0] = math.Log(spike)
	for i := range bad {
		bad[i] = math.Log(spike*ch.levels[i] + (1-spike)/float64(len(bad)))
	}
	if t == nil {
		ch.freshOK, ch.freshWorse = mixture(ok, ch.kernel.ok), mixture(bad, ch.kernel.worse)
		return ch.freshOK, ch.freshWorse
	}
	for i := range ok {
		ok[i] += t.ok[ch.scale][i]
	}
	for i := range bad {
		bad[i] += t.worse[ch.scale][i]
	}
	return mixture(ok, ch.kernel.ok), mixture(bad, ch.kernel.worse)
}

// mixture returns the density of results if the level has the given probabilities, which are logarithms and need
// not add up to 1.
func mixture(logs []float64, densities [][]float64) []float64 {
	total := logSum(logs...)
	all := make([]float64, len(densities[0]))
	for i, l := range logs {
		p := math.Exp(l - total)
		for j, d := range densities[i] {
			all[j] += p * d
		}
	}
	return all
}

// growth returns the expected growth of a bet's wealth in a pair whose new commit is the first worse one.
func (ch *channel) growth(zeal, margin float64) (sum float64) {
	for i, level := range ch.levels {
		for j, d := range ch.kernel.worse[i] {
			sum += level * ch.kernel.step * d * growth(ch.kernel.xs[j]-margin, zeal)
		}
	}
	return sum
}
