package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// A UnitNoise says how much equal versions differ in a unit. It is computed from a report that compares a
// version with itself.
type UnitNoise struct {
	Unit   string // as Row.Unit
	Better string // as Row.Better
	Rows   int
	Noise  float64 // the largest Row.Noise that is a share
	// Margin is a recommended margin for the unit, as a share; 0 if all rows have Row.Amounts. It is at least 1.5 times
	// the noise, because the noise may be larger on other days, and is rounded up to a multiple of 0.5 %, or of 1 % above
	// 5 %.
	Margin float64
	// AmountNoise is the largest Row.Noise of rows with Row.Amounts, in Unit.
	AmountNoise float64
	// Amount is 1.5 times AmountNoise, rounded up to two digits; 0 if there are no such rows. If they have no noise, it is
	// their margin, or half a percent of the largest median.
	Amount float64
	// None says why no margin is recommended: the noise is not known, or so large that the margin would be 100 % or more. ""
	// if one is.
	None string
}

// Noise returns the noise of all units with a direction, in the order of the rows, except those whose values are
// proportions, whose noise follows from their counts.
func (r *Report) Noise() []UnitNoise {
	var all []UnitNoise
	for _, row := range r.Rows {
		if row.Better == "" || row.Points {
			continue
		}
		i := slices.IndexFunc(all, func(u UnitNoise) bool { return u.Unit == row.Unit })
		if i < 0 {
			i = len(all)
			all = append(all, UnitNoise{Unit: row.Unit, Better: row.Better})
		}
		all[i].add(row)
	}
	return all
}

// add adds a row of the unit.
func (u *UnitNoise) add(row Row) {
	u.Rows++
	switch {
	case row.Noise == nil:
		u.None = cmp.Or(u.None, "its noise is not known")
	case row.Amounts:
		u.AmountNoise = max(u.AmountNoise, *row.Noise)
		given := max(math.Abs(*row.Old.Median), math.Abs(*row.New.Median)) / 200
		if row.Margin != nil {
			given = *row.Margin
		}
		if u.Amount = cmp.Or(roundedUp(1.5*u.AmountNoise), max(u.Amount, roundedUp(given))); u.Amount == 0 {
			u.None = cmp.Or(u.None, "the medians are 0, and the noise is, too")
		}
	default:
		u.Noise = max(u.Noise, *row.Noise)
		if u.Margin = margin(u.Noise); u.Margin >= 1 {
			u.None = cmp.Or(u.None, "the noise is too large for a margin of less than 100 %")
		}
	}
}

// margin returns the recommended margin for a unit with the given noise.
func margin(noise float64) float64 {
	step := 0.005
	if 1.5*noise > 0.05 {
		step = 0.01
	}
	return max(1, math.Ceil(1.5*noise/step-1e-9)) * step
}

// Text returns the noise for a reader: "4.21%", "80.00µs" or "4.21%,80.00µs".
func (u UnitNoise) Text() string {
	share, absolute := fmt.Sprintf("%.2f%%", 100*u.Noise), amount(u.AmountNoise, u.Unit)
	switch {
	case u.Amount == 0:
		return share
	case u.Margin == 0:
		return absolute
	}
	return share + "," + absolute
}

// Gate returns the recommended margin as the value of gate= in a Unit line: "5%", "0.12" or "5%,0.12".
func (u UnitNoise) Gate() string {
	share, amount := fmt.Sprintf("%.3g%%", 100*u.Margin), strconv.FormatFloat(u.Amount, 'g', -1, 64)
	switch {
	case u.Amount == 0:
		return share
	case u.Margin == 0:
		return amount
	}
	return share + "," + amount
}

// roundedUp returns the smallest number of two digits that is at least v, or 0 for 0.
func roundedUp(v float64) float64 {
	if v == 0 {
		return 0
	}
	step := math.Pow10(int(math.Floor(math.Log10(v))) - 1)
	return numbers.Rounded(math.Ceil(v/step-1e-9)*step, 12)
}
