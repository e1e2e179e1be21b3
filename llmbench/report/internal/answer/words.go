package answer

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// at returns a load in words, such as "concurrency 8".
func at(r *results.Row) string {
	load, x := r.Load()
	if load == "" {
		return "this load"
	}
	return load + " " + loadText(load, x)
}

// loadText returns the value of a load with its unit.
func loadText(load string, v float64) string {
	if results.Open(load) {
		return chart.Brief(v) + " req/s"
	}
	return chart.Brief(v)
}

// figure returns the median of the first of the units that a row has, as text. If the row has none
// of them, it returns "".
func figure(r *results.Row, units ...string) string {
	v, unit := r.Spread(units...)
	if unit == "" {
		return ""
	}
	return human.Text(unit, v.Mid)
}

// percent returns a share as text.
func percent(share float64) string {
	text := fmt.Sprintf("%.3g %%", 100*share)
	if share < 1 && share > 0.9995 {
		return "99.9 %" // not 100 %, because the share is not all
	}
	return text
}

// chance returns a p-value as text.
func chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// times returns a ratio as text.
func times(v float64) string {
	if math.Abs(v-1) < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// sentence joins parts with semicolons, and ends them with a full stop.
func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ") + "."
}

// capital returns the text with its first letter in upper case. The text may be empty, or not valid
// UTF-8.
func capital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[n:]
}

// printable replaces what could change a terminal, because servers write some of the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
