// Package human spells numbers for readers: figures with three significant digits and a unit of a size
// that fits, such as ms, and counts with their nouns. Benchmark files and data keep all digits.
package human

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Scale is the unit in which readers see the values of a unit of benchmark files.
type Scale struct {
	Unit   string  // the unit that readers see, such as "ms"
	Base   string  // the unit of the values, such as "ns"
	Factor float64 // a value in Unit is a value in Base times Factor
}

// ScaleOf returns the scale for values of a unit. The largest of them is given. Nanoseconds become
// µs, ms or s. Rates and percentages lose the words before the last hyphen: "output-tok/s" becomes
// "tok/s".
func ScaleOf(unit string, largest float64) Scale {
	if unit == sample.CheckedRequests || unit == sample.TokenPrice || strings.HasSuffix(unit, "-concurrency") {
		return Scale{"", "", 1} // the name of the unit says what is counted
	}
	if !strings.HasSuffix(unit, "-ns") && unit != "ns/op" {
		short := columns.Short(unit)
		return Scale{short, short, 1}
	}
	for _, s := range []Scale{{"s", "ns", 1e-9}, {"ms", "ns", 1e-6}, {"µs", "ns", 1e-3}} {
		if largest*s.Factor >= 1 {
			return s
		}
	}
	return Scale{"ns", "ns", 1}
}

// Number returns a value as text without its unit.
func (s Scale) Number(v float64) string { return chart.Brief(v * s.Factor) }

// Text returns a value as text with its unit.
func (s Scale) Text(v float64) string {
	if s.Unit == "" {
		return s.Number(v)
	}
	return s.Number(v) + " " + s.Unit
}

// Text returns a value of a unit of benchmark files as text.
func Text(unit string, v float64) string {
	return ScaleOf(unit, math.Abs(v)).Text(v)
}

// Capital returns the text with its first letter in upper case, unless the text begins with a unit, whose spelling
// stays. The text may be empty, or not valid UTF-8.
func Capital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	word, _, _ := strings.Cut(text, " ")
	if first == utf8.RuneError || isUnit(strings.TrimRight(word, ",:;")) {
		return text
	}
	return string(unicode.ToUpper(first)) + text[n:]
}

// isUnit reports whether a word is a unit of results.
func isUnit(word string) bool {
	_, general := sample.Find(sample.Units, word)
	return general || strings.ContainsAny(word, "/%") || slices.ContainsFunc([]string{"-ns", "-ms", "-concurrency"}, func(end string) bool { return strings.HasSuffix(word, end) })
}
