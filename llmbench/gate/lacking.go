package gate

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// lacking returns a line for each gated row that is judged although some results lack its value.
func (r *Report) lacking() (lines []string) {
	name := r.namer()
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.PAdjusted == nil || row.Withheld != nil || row.Old.Of == 0 && row.New.Of == 0 {
			continue
		}
		if len(lines) == maxSubjects {
			return append(lines, "and further rows that are missing in some samples, as column n shows")
		}
		line := fmt.Sprintf("%s: %s", name(row), row.lackText())
		if r.Paired && row.Limit == nil {
			line += fmt.Sprintf("; %s have both and are compared", numbers.Count(row.Pairs, "round"))
		}
		lines = append(lines, line)
	}
	return lines
}

// lackReason explains why a row with too many missing values cannot be judged.
func (row *Row) lackReason() string {
	if row.Old.Of > 0 && lacksMany(row.Old.Of-row.Old.N, row.Old.Of) || row.New.Of > 0 && lacksMany(row.New.Of-row.New.N, row.New.Of) {
		return "cannot judge: the unit is " + row.lackText() + ": want four of five of each side, since the missing values may be the worst"
	}
	return "cannot judge: the unit is " + row.lackText() + ", and too few are left: want more samples"
}

// lackText says how many samples on each side have a value of the row.
func (row *Row) lackText() string {
	return fmt.Sprintf("in %s old and %s new samples", row.Old.share(), row.New.share())
}

// share says how many of the results have a value.
func (s Summary) share() string {
	if s.Of == 0 {
		return fmt.Sprintf("all %d", s.N)
	}
	return fmt.Sprintf("%d of %d", s.N, s.Of)
}
