package gate

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"
)

// text returns the median and its confidence interval, for example "31.56ms ± 1%".
func (s Summary) text(unit string) string {
	if s.Median == nil {
		return "-"
	}
	b := benchmath.Summary{Center: *s.Median, Lo: math.Inf(-1), Hi: math.Inf(+1)}
	if s.Low != nil && s.High != nil {
		b.Lo, b.Hi = *s.Low, *s.High
	}
	if b.Center < 0 { // the package divides by it
		b.Center, b.Lo, b.Hi = -b.Center, -b.Hi, -b.Lo
	}
	return amount(*s.Median, unit) + " ± " + b.PctRangeString()
}

// ChangeText returns the change with its sign, such as "+5.10%", "+1.00 points" or "-0.20ms".
func (row *Row) ChangeText() string {
	if row.Change == nil && row.P != nil && *row.Old.Median == 0 {
		return "from 0"
	}
	return row.percent(row.Change, 2)
}

// percent formats a change of the row with its sign, or returns "-" if the change is not known.
func (row *Row) percent(v *float64, precision int) string {
	switch {
	case v == nil:
	case row.Amounts && *v > 0:
		return "+" + amount(*v, row.Unit)
	case row.Amounts:
		return amount(*v, row.Unit)
	case row.Points:
		return fmt.Sprintf("%+.*f points", precision, 100**v)
	}
	return percent(v, precision)
}

// Size formats a margin, or the noise of the row, with at most so many digits: "5%", "2 percentage points" or "500.0µs".
func (row *Row) Size(v float64, digits int) string {
	switch {
	case row.Amounts:
		return amount(v, row.Unit)
	case row.Points:
		return fmt.Sprintf("%.*g percentage points", digits, 100*v)
	}
	return fmt.Sprintf("%.*g%%", digits, 100*v)
}

// percent formats a change with its sign, or returns "-" if v is nil.
func percent(v *float64, precision int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.*f%%", precision, 100**v)
}

// decimals formats a probability, or returns "-" if p is nil.
func decimals(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *p)
}

// excess returns by how much the change of a row exceeds its margin. It is negative within the margin.
func (row *Row) excess() float64 {
	if row.Limit != nil || row.Change == nil || row.Margin == nil {
		return math.Inf(+1)
	}
	return row.above(row.worse())
}

// above returns by how much a size exceeds the margin. Of amounts it is a share of the old median, or of the margin if that
// is more, so that rows can be compared.
func (row *Row) above(size float64) float64 {
	if !row.Amounts {
		return size - *row.Margin
	}
	of := *row.Margin
	if row.Old.Median != nil {
		of = max(of, math.Abs(*row.Old.Median))
	}
	return (size - *row.Margin) / of
}

// worse returns by how much the row got worse, as a share or an amount. It is negative if new is better.
func (row *Row) worse() float64 {
	if row.Better == "higher" {
		return -*row.Change
	}
	return *row.Change
}
