package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// worded returns the name of the row's benchmark and unit. Of a row with a Source it returns the part of the name
// after the first slash, the tool, its key, and the old and new values in the tool's unit.
func (row *Row) worded(name string) string {
	s := row.Source
	if s == nil {
		return fmt.Sprintf("%s %s:", name, redact.Line(row.Unit))
	}
	_, load, _ := strings.Cut(name, "/")
	text := strings.TrimLeft(fmt.Sprintf("%s %s: %s", load, redact.Line(s.Tool), redact.Line(s.Key)), " ")
	if row.Old.Median == nil || row.New.Median == nil || s.Factor == 0 {
		return text
	}
	return fmt.Sprintf("%s %s -> %s %s,", text, grouped(*row.Old.Median/s.Factor), grouped(*row.New.Median/s.Factor), redact.Line(s.Unit))
}

// grouped formats a number with at least four significant digits, and with commas between thousands.
func grouped(v float64) string {
	if math.Abs(v) < 1000 || math.Abs(v) >= 1e15 {
		return fmt.Sprintf("%.4g", v)
	}
	digits := fmt.Sprintf("%.0f", math.Abs(v))
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	if v < 0 {
		return "-" + b.String()
	}
	return b.String()
}
