package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// worder returns a function that begins a sentence about a row: "time to first token, p50, at 8 users:". Of a row with a
// Source it has the part of the benchmark's name after the first slash, the tool, its key, and the old and new values in
// the tool's unit.
func (r *Report) worder() func(row *Row) string {
	name := r.namer()
	return func(row *Row) string {
		if row.Source == nil {
			return name(row) + ":"
		}
		return row.ofTool(r.qualify(row.Pkg, row.Name))
	}
}

// ofTool begins a sentence about a row with a Source; see worder. The name is the name of its benchmark.
func (row *Row) ofTool(name string) string {
	s := row.Source
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
