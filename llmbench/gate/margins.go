package gate

import (
	"math"
	"slices"
)

// A UnitNoise says how much equal versions differ in a unit. It is computed from a report that compares a
// version with itself.
type UnitNoise struct {
	Unit   string // as Row.Unit
	Better string // as Row.Better
	Rows   int
	Noise  float64 // the largest Row.Noise of the unit, as a share
	// Margin is a recommended margin for the unit, as a share. It is at least 1.5 times the noise, because
	// the noise may be larger on other days, and is rounded up to a multiple of 0.5 %, or of 1 % above 5 %.
	Margin float64
}

// Noise returns the noise of all units with a direction, in the order of the rows. It omits units whose
// noise is not known, and units whose noise is so large that the margin would be 100 % or more.
func (r *Report) Noise() []UnitNoise {
	var all []UnitNoise
	for _, row := range r.Rows {
		if row.Noise == nil || row.Points { // the noise of proportions follows from their counts
			continue
		}
		i := slices.IndexFunc(all, func(u UnitNoise) bool { return u.Unit == row.Unit })
		if i < 0 {
			i = len(all)
			all = append(all, UnitNoise{Unit: row.Unit, Better: row.Better})
		}
		all[i].Rows++
		all[i].Noise = max(all[i].Noise, *row.Noise)
	}
	for i := range all {
		all[i].Margin = margin(all[i].Noise)
	}
	return slices.DeleteFunc(all, func(u UnitNoise) bool { return u.Margin >= 1 })
}

// margin returns the recommended margin for a unit with the given noise.
func margin(noise float64) float64 {
	step := 0.005
	if 1.5*noise > 0.05 {
		step = 0.01
	}
	return max(1, math.Ceil(1.5*noise/step-1e-9)) * step
}
