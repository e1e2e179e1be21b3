package gate

import (
	"math"
	"slices"
)

// A UnitNoise is how much equal versions differ in a unit, over the rows of a
// report that compares a version with itself.
type UnitNoise struct {
	Unit   string // as Row.Unit
	Better string // as Row.Better
	Rows   int
	Noise  float64 // the largest Row.Noise
	// Margin is one to gate the unit with: at least half as much again as the
	// noise, since other days have more, rounded up to half a percent or, above
	// 5 %, a percent.
	Margin float64
}

// Noise is the noise of all units that have a direction, in the order of the
// rows. Units whose noise is not known are left out, and those of which it is so
// large that there is no margin to gate them with.
func (r *Report) Noise() []UnitNoise {
	var all []UnitNoise
	for _, row := range r.Rows {
		if row.Noise == nil {
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

// margin is a round number at least half as much again as the noise.
func margin(noise float64) float64 {
	step := 0.005
	if 1.5*noise > 0.05 {
		step = 0.01
	}
	return max(1, math.Ceil(1.5*noise/step-1e-9)) * step
}
