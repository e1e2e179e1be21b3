package distortion

import (
	"maps"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Shift is how much the client added to a metric: measured - true. It is between Least and Most.
type Shift struct {
	Least, Likely, Most float64 // Least <= 0 <= Most
	// Sums says that the metric of several clients is the sum of their metrics, as for a rate.
	Sums bool
}

// with extends s by a possible true value of a metric. If likely is set, truth is the most likely true
// value.
func (s Shift) with(measured, truth float64, likely bool) Shift {
	shift := measured - truth
	s.Least, s.Most = min(s.Least, shift), max(s.Most, shift)
	if likely {
		s.Likely = shift
	}
	return s
}

// widened returns s in its final form for a unit: increased by guard, and wide enough for a client that was
// stopped for the given share of the time.
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

// plus returns the shift of a metric of two clients. Their own shifts are s and o. If the metric is a sum,
// its shift is the sum of both. Otherwise the shift is between the extremes of both.
func (s Shift) plus(o Shift) Shift {
	if s.Sums {
		return Shift{s.Least + o.Least, s.Likely + o.Likely, s.Most + o.Most, true}
	}
	if max(o.Likely, -o.Likely) > max(s.Likely, -s.Likely) {
		s.Likely = o.Likely
	}
	return Shift{min(s.Least, o.Least), s.Likely, max(s.Most, o.Most), false}
}

// mergeShifts returns the shifts of the metrics of two clients, by unit. If a client does not have a
// metric, it does not shift it.
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

// Bounds returns, by unit, the interval of the true value of each metric that the client can distort.
// Metrics are never negative.
func (r *Report) Bounds(metrics map[string]float64) map[string]sample.Interval {
	all := map[string]sample.Interval{}
	for unit, s := range r.Shifts {
		if v, known := metrics[unit]; known {
			all[unit] = sample.Interval{Low: max(0, v-s.Most), Likely: max(0, v-s.Likely), High: v - s.Least}
		}
	}
	return all
}
