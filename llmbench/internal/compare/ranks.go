package compare

import (
	"math"
	"slices"
)

// significant is the largest probability of an untrue difference in an answer.
const significant = 0.05

// A stratum holds the samples of two systems at one load.
type stratum struct{ a, b []float64 }

// ahead counts the pairs of samples at equal loads in which a is greater than b. A tie counts as
// half. It also returns the number of all pairs.
func ahead(all []stratum) (wins, pairs float64) {
	for _, s := range all {
		for _, x := range s.a {
			for _, y := range s.b {
				pairs++
				switch {
				case x > y:
					wins++
				case x == y:
					wins += 0.5
				}
			}
		}
	}
	return wins, pairs
}

// chanceOf tests the hypothesis that the samples of both systems have the same distribution at each
// load. It returns the two-sided p-value.
//
// The statistic is the number of pairs in which a is ahead. That is the sum over the loads of the
// statistic U of Mann and Whitney. With one load, this is the test of Mann and Whitney. The p-value
// comes from the distribution of the statistic over all exchanges of samples within loads (E. L.
// Lehmann, "Nonparametrics", 1975, section 3.3, blocked comparisons). It is computed exactly,
// including ties. If both systems together have more than exactSamples samples at a load, a normal
// distribution is used as an approximation.
func chanceOf(all []stratum) float64 {
	for _, s := range all {
		if len(s.a)+len(s.b) > exactSamples {
			return nearly(all)
		}
	}
	return exactly(all)
}

// exactly computes the result of chanceOf from all exchanges.
func exactly(all []stratum) (p float64) {
	wins, pairs := ahead(all)
	off := math.Abs(wins - pairs/2)
	// ways[i] is the share of the exchanges that give i half wins.
	ways := []float64{1}
	for _, s := range all {
		ways = convolve(ways, halfWins(s))
	}
	for i, share := range ways {
		if math.Abs(float64(i)/2-pairs/2) >= off-1e-9 {
			p += share
		}
	}
	return min(1, p)
}

// nearly approximates the p-value of chanceOf by a normal distribution.
func nearly(all []stratum) float64 {
	wins, pairs := ahead(all)
	variance := 0.0
	for _, s := range all {
		variance += varianceOf(s)
	}
	if variance == 0 {
		return 1
	}
	return math.Erfc(max(0, math.Abs(wins-pairs/2)-0.5) / math.Sqrt(2*variance))
}

// exactSamples is the largest number of samples at a load for which the test is exact.
const exactSamples = 40

// halfWins returns the distribution of twice the number of wins of a in a stratum.
func halfWins(s stratum) []float64 {
	n, m := len(s.a), len(s.b)
	values := slices.Sorted(slices.Values(append(slices.Clone(s.a), s.b...)))
	// ways[k][w] is the number of ways in which k of the values so far belong to a and have w half
	// wins. A value of a wins against each smaller value of b, and counts half against each equal
	// one.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, 2*n*m+1)
	}
	ways[0][0] = 1
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		next := make([][]float64, n+1)
		for k := range next {
			next[k] = make([]float64, 2*n*m+1)
		}
		for k, row := range ways {
			below := i - k // the number of smaller values that belong to b
			for take := 0; take <= j-i && k+take <= n; take++ {
				gain := 2*take*below + take*(j-i-take)
				of := choose(j-i, take)
				for w, c := range row {
					if c > 0 && w+gain < len(row) && below >= 0 {
						next[k+take][w+gain] += c * of
					}
				}
			}
		}
		ways, i = next, j
	}
	total := choose(n+m, n)
	for w := range ways[n] {
		ways[n][w] /= total
	}
	return ways[n]
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

func convolve(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			c[i+j] += x * y
		}
	}
	return c
}

// varianceOf returns the variance of the number of wins in a stratum. It takes ties into account.
func varianceOf(s stratum) float64 {
	n, m := float64(len(s.a)), float64(len(s.b))
	if n == 0 || m == 0 {
		return 0
	}
	values := slices.Sorted(slices.Values(append(slices.Clone(s.a), s.b...)))
	ties := 0.0
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	all := n + m
	return max(0, n*m/12*(all+1-ties/(all*(all-1))))
}
