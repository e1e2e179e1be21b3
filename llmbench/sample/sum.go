package sample

import "math"

// A sum adds floating-point numbers and rounds only once, at the end, so that the result does not depend on
// the order of the numbers. It keeps the exact sum as several numbers whose digits do not overlap
// (Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", Discrete
// & Computational Geometry 18, 1997). The zero value is 0.
type sum struct{ parts []float64 } // from the smallest to the largest

// add adds a finite number.
func (s *sum) add(x float64) {
	kept := s.parts[:0]
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			kept = append(kept, low)
		}
		x = high
	}
	s.parts = append(kept, x)
}

// value returns the sum, rounded to the nearest float64. Halfway cases are rounded to even.
func (s *sum) value() float64 {
	n := len(s.parts)
	if n == 0 {
		return 0
	}
	total, low := s.parts[n-1], 0.0
	for n--; n > 0 && low == 0; n-- {
		x, y := total, s.parts[n-1]
		total = x + y
		low = y - (total - x)
	}
	// If the remainder is exactly half of the last digit, the smaller parts decide how to round.
	if n > 0 && (low < 0) == (s.parts[n-1] < 0) {
		if twice := 2 * low; total+twice-total == twice {
			total += twice
		}
	}
	return total
}
