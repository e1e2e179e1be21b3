package answer

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/chart"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// at returns a load as in "concurrency 8".
func at(r *results.Row) string {
	load, x := r.Load()
	if load == "" {
		return "this load"
	}
	return load + " " + chart.Brief(x)
}

// figure spells the median of the first of units that a row has, or returns "".
func figure(r *results.Row, units ...string) string {
	v, unit := r.Spread(units...)
	if unit == "" {
		return ""
	}
	return human.Text(unit, v.Mid)
}

// percent spells a share.
func percent(share float64) string {
	text := fmt.Sprintf("%.3g %%", 100*share)
	if share < 1 && share > 0.9995 {
		return "99.9 %" // not all
	}
	return text
}

// chance spells a p-value.
func chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// times spells a ratio.
func times(v float64) string {
	if math.Abs(v-1) < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// sentence joins parts with commas and ends them.
func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ") + "."
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
