package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"golang.org/x/perf/benchunit"
)

// A tolerance is the largest difference between the medians of a unit for which two benchmarks are
// comparable.
type tolerance struct {
	amount float64 // a share of the larger median, or an amount in the tidied unit
	share  bool
}

// parseTolerance parses the value of same=, a percentage such as "2%" or an amount such as "5". unit is the
// unit of the amount, not tidied.
func parseTolerance(s, unit string) (tolerance, error) {
	digits, share := strings.CutSuffix(s, "%")
	amount, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(amount >= 0) || math.IsInf(amount, 0) {
		return tolerance{}, fmt.Errorf("want a percentage such as 2%%, or an amount such as 5, of 0 or more")
	}
	if share {
		return tolerance{amount / 100, true}, nil
	}
	amount, _ = benchunit.Tidy(amount, unit)
	return tolerance{amount, false}, nil
}

// exceeded reports whether a and b differ by more than t. Both are at least 0 and have the given unit.
func (t tolerance) exceeded(a, b float64, unit string) bool {
	if t.share {
		return math.Abs(a-b) > t.amount*max(a, b)
	}
	factor, _ := benchunit.Tidy(1, unit)
	return numbers.Rounded(math.Abs(a-b)*factor, 14) > numbers.Rounded(t.amount, 14)
}
