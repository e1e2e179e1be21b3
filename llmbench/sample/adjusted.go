package sample

import "slices"

// adjusted are the names of the latencies that have units in which failed requests count. adjustedStatistics are the
// statistics of these units: a mean would be infinite.
var (
	adjusted           = []string{"ttft", "tpot", "e2e"}
	adjustedStatistics = []Statistic{P50, P90, P99}
)

// adjustedUnits returns the units of the adjusted latencies.
func adjustedUnits() (all []Unit) {
	for _, l := range latencies {
		if !slices.Contains(adjusted, l.name) {
			continue
		}
		for _, s := range adjustedStatistics {
			all = append(all, Unit{
				Name: adjustedName(s, l.name), Better: "lower", Core: slices.Contains(l.core, s), Family: l.family, Statistic: s,
				Means: s.phrase() + l.short + " if failed requests, shed ones too, count as longer than any other. Only if requests failed. Omitted if it would be the latency of a failed one.",
			})
		}
	}
	return all
}

func adjustedName(s Statistic, latency string) string { return "adj-" + unitName(s, latency) }

// A rank is a place between two successive elements of sorted values: the index of the lower one, and how far the place is
// from it to the next one, from 0 to 1.
type rank struct {
	below int
	part  float64
}

// adjustedRank returns the place of a percentile of n values, followed by failed ones that are longer than any other. It
// returns false if the place is at one of these, or between.
func adjustedRank(s Statistic, n, failed int) (at rank, known bool) {
	h := float64(s.Percent()) / 100 * float64(n+failed-1)
	at = rank{int(h), h - float64(int(h))}
	if at.part < 1e-9 { // rounding of h
		at.part = 0
	}
	return at, at.below < n && (at.part == 0 || at.below+1 < n)
}

// adjustedRanks returns the indices of the values of d that the adjusted percentiles need.
func adjustedRanks(d *Distribution, failed int) (all []int) {
	for _, s := range adjustedStatistics {
		if at, known := adjustedRank(s, d.N(), failed); known && failed > 0 && s.Enough(d.N()+failed) {
			all = append(all, at.below, min(at.below+1, d.N()-1))
		}
	}
	return all
}

// setAdjusted sets the adjusted percentiles of a latency, whose distribution is d.
func (s *Summary) setAdjusted(latency string, d *Distribution) {
	failed := s.Failed()
	if failed == 0 || d.N() == 0 || !slices.Contains(adjusted, latency) {
		return
	}
	for _, st := range adjustedStatistics {
		if !st.Enough(d.N() + failed) {
			continue
		}
		unit := adjustedName(st, latency)
		at, known := adjustedRank(st, d.N(), failed)
		if !known {
			s.Unbounded = append(s.Unbounded, unit)
			continue
		}
		v := d.At(at.below)
		if at.part > 0 {
			v += at.part * (d.At(at.below+1) - v)
		}
		s.set(unit, max(1, v), true)
	}
}
