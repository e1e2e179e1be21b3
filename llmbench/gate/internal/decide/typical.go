package decide

import (
	"math"
	"slices"
)

// typicalBound returns the upper confidence bound of the mean of differences, with a
// confidence of 1-alpha, that belongs to the test of pairs: a value is beyond the bound if the
// test rejects it. The bounds are means of subsets of the differences (Hartigan, "Using
// Subsample Values as Typical Values", 1969, https://doi.org/10.1080/01621459.1969.10501057).
// It is NaN if there are too few differences.
func typicalBound(differences []float64, alpha float64) float64 {
	f := flips(len(differences))
	rank := int(alpha * float64(f.ways) * (1 + 1e-9))
	if rank < 1 {
		return math.NaN()
	}
	flipped, sizes := make([]float64, f.ways), make([]float64, f.ways)
	f.sums(differences, flipped)
	ones := make([]float64, len(differences))
	for i := range ones {
		ones[i] = 1
	}
	f.sums(ones, sizes)
	var means []float64
	for way := 1; way < f.ways; way++ { // way 0 exchanges nothing
		if k := sizes[0] - sizes[way]; k > 0 { // twice the number of exchanged rounds
			means = append(means, (flipped[0]-flipped[way])/k)
		}
	}
	slices.Sort(means)
	return means[len(means)-rank]
}
