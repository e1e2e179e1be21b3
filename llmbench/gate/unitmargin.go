package gate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// A unitMargin says by how much new values may be worse than old ones:
//
//	Unit mean-tpot-ns better=lower gate=5%
//	Unit p50-ttft-ns better=lower gate=0.5ms
//	Unit p99-ttft-ns better=lower gate=5%,0.5ms
//	Unit accuracy-% better=higher gate=2pp of=checked-req
//
// The third one is the larger of both. Against an amount, differences are tested, so that values may be 0 or negative.
type unitMargin struct {
	share  float64 // of the old value, or 0.01 for each percentage point
	amount float64 // in the tidied unit; 0 for none
	points bool    // share is in percentage points, and values are percentages of observations
	none   bool    // gate=none: the unit is not gated
}

// parseMargin parses the value of gate= of a unit as its line spells the unit.
func parseMargin(s, unit string) (unitMargin, error) {
	if s == "none" {
		return unitMargin{none: true}, nil
	}
	var m unitMargin
	var shares, amounts int
	for part := range strings.SplitSeq(s, ",") {
		digits, share := strings.CutSuffix(part, "%")
		if !share {
			digits, m.points = strings.CutSuffix(part, "pp")
		}
		if share || m.points {
			percent, err := strconv.ParseFloat(digits, 64)
			if err != nil || !(percent >= 0 && percent < 100) {
				return m, wantMargin(unit)
			}
			m.share = numbers.Rounded(percent/100, 14)
			shares++
			if m.points && s != part {
				return m, errors.New("want percentage points alone")
			}
			continue
		}
		v, err := parseAmount(part, unit)
		if err != nil || v == 0 {
			return m, wantMargin(unit)
		}
		m.amount, _ = benchunit.Tidy(v, unit)
		amounts++
	}
	if shares > 1 || amounts > 1 {
		return m, wantMargin(unit)
	}
	return m, nil
}

// exampleOf returns an amount of a unit, for errors.
func exampleOf(unit string) string {
	if nanoseconds(unit) > 0 {
		return "0.5ms"
	}
	return "3"
}

func wantMargin(unit string) error {
	return fmt.Errorf("want a percentage from 0%% to less than 100%%, percentage points such as 2pp, an amount such as %s, 5%%,%[1]s for the larger of both, or none", exampleOf(unit))
}

// of returns the margin of a cell whose old values have the given median. If amounts is true, the margin is an amount of the
// given unit, otherwise a share of the median, or one in percentage points. A share beside an amount becomes an amount if
// a value of the cell is negative.
func (m unitMargin) of(median *float64, negative bool, unit string) (margin float64, amounts bool) {
	factor, _ := benchunit.Tidy(1, unit)
	amount := numbers.Rounded(m.amount/factor, 12)
	switch {
	case m.amount == 0:
		return m.share, false
	case median == nil || m.share**median <= amount:
		return amount, true
	case negative:
		return numbers.Rounded(m.share**median, 12), true
	}
	return m.share, false
}

// text returns the margin as its rule states it, such as "5%" or "5% or 500.0µs" for values in the given unit.
func (m unitMargin) text(unit string) string {
	share := fmt.Sprintf("%.4g%%", 100*m.share)
	if m.points {
		share = fmt.Sprintf("%.4g percentage points", 100*m.share)
	}
	if m.amount == 0 {
		return share
	}
	factor, _ := benchunit.Tidy(1, unit)
	absolute := amount(numbers.Rounded(m.amount/factor, 12), unit)
	if m.share == 0 {
		return absolute
	}
	return share + " or " + absolute
}
