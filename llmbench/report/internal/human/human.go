// Package human spells numbers for readers: figures with three significant digits and a unit of a size
// that fits, such as ms, and counts with their nouns. Benchmark files and data keep all digits.
package human

import (
	"fmt"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
)

// A Scale is the unit in which values of a unit of benchmark files are shown.
type Scale struct {
	Unit   string  // "ms"
	Base   string  // of the values: "ns"
	Factor float64 // of Base
}

// ScaleOf returns the scale for values of a unit, the largest of which is largest. Nanoseconds
// become µs, ms or s. Other units lose what they are of: "output-tok/s" becomes "tok/s".
func ScaleOf(unit string, largest float64) Scale {
	if !strings.HasSuffix(unit, "-ns") && unit != "ns/op" {
		short := unit
		if i := strings.LastIndex(unit, "-"); i >= 0 && (strings.Contains(unit[i:], "/") || strings.HasSuffix(unit, "-%")) {
			short = unit[i+1:]
		}
		return Scale{short, short, 1}
	}
	for _, s := range []Scale{{"s", "ns", 1e-9}, {"ms", "ns", 1e-6}, {"µs", "ns", 1e-3}} {
		if largest*s.Factor >= 1 {
			return s
		}
	}
	return Scale{"ns", "ns", 1}
}

// Number spells a value without its unit.
func (s Scale) Number(v float64) string { return chart.Brief(v * s.Factor) }

// Text spells a value with its unit.
func (s Scale) Text(v float64) string {
	if s.Unit == "" {
		return s.Number(v)
	}
	return s.Number(v) + " " + s.Unit
}

// Text spells a value of a unit of benchmark files.
func Text(unit string, v float64) string {
	largest := v
	if v < 0 {
		largest = -v
	}
	return ScaleOf(unit, largest).Text(v)
}

// Plural spells a number with its noun, in the plural unless the number is 1: "2 samples".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
