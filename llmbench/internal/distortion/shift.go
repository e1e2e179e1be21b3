package distortion

import (
	"maps"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Shift is what the client adds to a figure: measured - true. It is between Least and Most.
type Shift struct {
	Least, Likely, Most float64 // Least <= 0 <= Most
	// Sums says that the figure of several clients is the sum of their figures, as a rate is.
	Sums bool
}

// with returns s of a measured figure whose true value may also be truth, and is most likely truth if likely
// is set.
func (s Shift) with(measured, truth float64, likely bool) Shift {
	shift := measured - truth
	s.Least, s.Most = min(s.Least, shift), max(s.Most, shift)
	if likely {
		s.Likely = shift
	}
	return s
}

// widened returns s of a unit, with the guard, and wide enough for a client that was stopped for a share of
// the time.
func (s Shift) widened(u sample.Unit, measured, stopped float64) Shift {
	s.Sums = u.Family == sample.FamilyRate
	s.Least, s.Most = (1+guard)*s.Least, (1+guard)*s.Most
	if u.Better == "higher" {
		s.Least = min(s.Least, -stopped*measured)
	} else {
		s.Most = max(s.Most, stopped*measured)
	}
	return s
}

// plus returns the shift of the figure of two clients, of which one has the shift s. Unless the figure is a
// sum, its shift is between the extremes of both.
func (s Shift) plus(o Shift) Shift {
	if s.Sums {
		return Shift{s.Least + o.Least, s.Likely + o.Likely, s.Most + o.Most, true}
	}
	if max(o.Likely, -o.Likely) > max(s.Likely, -s.Likely) {
		s.Likely = o.Likely
	}
	return Shift{min(s.Least, o.Least), s.Likely, max(s.Most, o.Most), false}
}

// mergeShifts returns the shifts of the figures of two clients, by unit. A client without a figure does not shift
// it.
func mergeShifts(one, other map[string]Shift) map[string]Shift {
	if one == nil {
		return other
	}
	all := maps.Clone(one)
	for unit, shift := range other {
		if s, both := all[unit]; both {
			shift = s.plus(shift)
		}
		all[unit] = shift
	}
	return all
}

// Bounds returns, by unit, the interval of the true value of each figure in metrics that the client can
// distort. Figures are 0 or more.
func (r *Report) Bounds(metrics map[string]float64) map[string]sample.Interval {
	all := map[string]sample.Interval{}
	for unit, s := range r.Shifts {
		if v, known := metrics[unit]; known {
			all[unit] = sample.Interval{Low: max(0, v-s.Most), Likely: max(0, v-s.Likely), High: v - s.Least}
		}
	}
	return all
}
