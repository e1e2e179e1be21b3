package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// A scale maps numbers to positions in a panel.
type scale struct {
	lo, hi   float64 // the numbers at the ends
	log      bool
	from, to vg.Length // the positions of the ends
}

func (s *scale) at(v float64) vg.Length {
	share := 0.0
	if s.log {
		share = math.Log(max(v, s.lo)/s.lo) / math.Log(s.hi/s.lo)
	} else {
		share = (v - s.lo) / (s.hi - s.lo)
	}
	return s.from + vg.Length(max(-0.01, min(1.01, share)))*(s.to-s.from)
}

// scaleOf returns a scale that covers the numbers. The positions are not set yet. The range is
// extended at its ends by the share pad.
func scaleOf(a *Axis, numbers []float64, log bool, pad float64) scale {
	fixed := a.From != 0 || a.To != 0
	if fixed {
		numbers = append(numbers, a.From, a.To)
	}
	if len(a.Ticks) > 0 {
		numbers = append(numbers, slices.Min(a.Ticks), slices.Max(a.Ticks))
	}
	if log {
		numbers = slices.DeleteFunc(numbers, func(v float64) bool { return v <= 0 })
		if len(numbers) == 0 {
			return scale{lo: 1, hi: 10, log: true}
		}
		lo, hi := slices.Min(numbers), slices.Max(numbers)
		by := max(math.Pow(hi/lo, pad), 1.02)
		if lo == hi {
			by = 2
		}
		return scale{lo: lo / by, hi: hi * by, log: true}
	}
	if a.Zero {
		numbers = append(numbers, 0)
	}
	if len(numbers) == 0 {
		return scale{hi: 1}
	}
	lo, hi := slices.Min(numbers), slices.Max(numbers)
	by := pad * (hi - lo)
	if hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
		by = max(0.5*math.Abs(hi), 1e-300)
		if hi == 0 {
			by = 1
		}
	}
	s := scale{lo: lo - by, hi: hi + by}
	if a.Zero && lo == 0 || fixed && lo == a.From && a.From < a.To {
		s.lo = lo
	}
	if a.Zero && hi == 0 || fixed && hi == a.To && a.From < a.To {
		s.hi = hi
	}
	if s.lo == 0 && s.hi == 0 {
		s.hi = 1
	}
	return s
}

// A tick is a mark on an axis.
type tick struct {
	at    float64
	label string
}

// leastTicks is the smallest number of marks of an axis.
const leastTicks = 3

// ticks returns the marks of a scale, which are at most about n. The labels are numbers multiplied
// by the axis's Scale. These multiplied numbers are round.
func (s *scale) ticks(a *Axis, n int) (all []tick) {
	by := a.scale()
	if a.Ticks != nil {
		for _, v := range a.Ticks {
			all = append(all, tick{v, Brief(v * by)})
		}
		return all
	}
	lo, hi := s.lo*by, s.hi*by
	var at []float64
	for more := n; len(at) < leastTicks && more < 4*n; more++ {
		if s.log {
			at = logTicks(lo, hi, more)
		}
		if !s.log || len(at) < leastTicks && hi < 20*lo { // round logarithmic marks would be too far apart
			at = linearTicks(lo, hi, more)
		}
	}
	for _, v := range at {
		all = append(all, tick{v / by, label(v, at)})
	}
	return all
}

// label returns the number of a mark as text. It has enough digits to tell the mark from the
// others.
func label(v float64, all []float64) string {
	step, most := math.Inf(1), 0.0
	for i, v := range all {
		most = max(most, math.Abs(v))
		if i > 0 {
			step = min(step, v-all[i-1])
		}
	}
	if v == 0 || most >= 1e7 || most < 1e-3 || !(step < 1) {
		if most < 1e7 && !(step < 1) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v+0, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', min(9, int(math.Ceil(-math.Log10(step)-1e-9))), 64)
	if all[0] > 0 && step < most/20 { // the axis is logarithmic
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// linearTicks returns at most about n numbers. They are multiples of a step, which is 1, 2 or 5
// times a power of ten.
func linearTicks(lo, hi float64, n int) (all []float64) {
	rough := (hi - lo) / float64(max(1, n))
	if !(rough > 0) || math.IsInf(rough, 0) {
		return []float64{lo}
	}
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, by := range []float64{1, 2, 5, 10} {
		if step*by >= rough*(1-1e-9) {
			step *= by
			break
		}
	}
	first := math.Ceil(lo/step - 1e-9)
	for i := range 4*n + 4 {
		// Dividing by 10 gives 0.3, where 3 × 0.1 would give 0.30000000000000004.
		v := (first + float64(i)) * step
		if step < 1 {
			v = (first + float64(i)) / math.Round(1/step)
		}
		if v > hi+1e-9*step || math.IsNaN(v) || math.IsInf(v, 0) {
			break
		}
		all = append(all, v)
	}
	return all
}

// logTicks returns at most n numbers. They are powers of ten and, if there is room, some or all
// multiples of these powers, such as 2 and 5 times each.
func logTicks(lo, hi float64, n int) []float64 {
	for _, of := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}} {
		for every := 1; every == 1 || len(of) == 1 && every < 700; every++ {
			var all []float64
			for e := math.Floor(math.Log10(lo)/float64(every)) * float64(every); e <= math.Log10(hi); e += float64(every) {
				for _, m := range of {
					if v := m * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
						all = append(all, v)
					}
				}
				if len(all) > 10*n {
					break
				}
			}
			if len(all) <= n {
				return all
			}
		}
	}
	return nil
}
