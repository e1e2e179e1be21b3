package overview

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// number formats v with three significant digits.
func number(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	text := strconv.FormatFloat(v, 'e', 2, 64) // rounds
	rounded, _ := strconv.ParseFloat(text, 64)
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	return strconv.FormatFloat(rounded, 'f', max(0, 2-exponent), 64)
}

// duration formats nanoseconds.
func duration(ns float64) string {
	for _, scale := range []struct {
		ns   float64
		unit string
	}{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}} {
		if math.Abs(ns) < 999.5*scale.ns {
			return number(ns/scale.ns) + " " + scale.unit
		}
	}
	return number(ns/1e9) + " s"
}

// figure formats a value with its unit.
func figure(unit string, v float64) string {
	if name, ok := strings.CutSuffix(unit, "-ns"); ok {
		return name + " " + duration(v)
	}
	return number(v) + " " + unit
}

// printable replaces what could change the screen, because servers write some of the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
