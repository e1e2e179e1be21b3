package change

import "math"

// An energy finds the best split of a part of a window: the one with the most distant sides. The distance is
// the energy distance of Matteson and James with exponent 1.
type energy struct {
	xs []float64
	// rows[t*(n+1)+e] is the sum of |xs[t]-xs[j]| for j < e.
	rows []float64
}

func newEnergy(xs []float64) *energy {
	n := len(xs)
	e := &energy{xs: xs, rows: make([]float64, n*(n+1))}
	for t, x := range xs {
		row := e.rows[t*(n+1):]
		for j, y := range xs {
			row[j+1] = row[j] + math.Abs(x-y)
		}
	}
	return e
}

// sum returns the sum of |xs[t]-xs[j]| for start <= j < end.
func (e *energy) sum(t, start, end int) float64 {
	row := t * (len(e.xs) + 1)
	return e.rows[row+end] - e.rows[row+start]
}

// divide returns the index in [start, end) at which the second side of the best split begins, and the scaled
// distance of the sides. The second side may end before end, so that a later change does not hide an earlier
// one. If the part cannot be split, at is 0.
func (e *energy) divide(start, end int) (at int, distance float64) {
	distance = math.Inf(-1)
	// within[k-start] is the sum of distances between the pairs in [start, k).
	within := make([]float64, end-start+1)
	for k := start; k < end; k++ {
		within[k+1-start] = within[k-start] + e.sum(k, start, k)
	}
	for t := start + 1; t < end; t++ {
		n := float64(t - start)
		left := within[t-start]
		var right, between float64 // pairs in [t, k), and pairs of [start, t) and [t, k)
		for k := t + 1; k <= end; k++ {
			m := float64(k - t)
			right += e.sum(k-1, t, k-1)
			between += e.sum(k-1, start, t)
			q := between
			if n > 1 {
				q -= m * left / (n - 1)
			}
			if m > 1 {
				q -= n * right / (m - 1)
			}
			if q *= 2 / (n + m); q > distance {
				at, distance = t, q
			}
		}
	}
	return at, distance
}
