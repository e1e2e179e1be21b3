package screen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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

// duration formats nanoseconds. A result has 1 ns in the place of 0.
func duration(ns float64) string {
	if ns == 1 {
		ns = 0
	}
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

// value formats a value of a unit.
func value(unit string, v float64) string {
	if strings.HasSuffix(unit, "-ns") {
		return duration(v)
	}
	return number(v)
}

// String says how wrong the value may be, as in "p99-itl 14.5 ms, up to 10 % off".
func (w Withheld) String() string {
	if w.Most == 0 {
		return strings.TrimSuffix(w.Unit, "-ns")
	}
	if w.Capped {
		return fmt.Sprintf("%s, %s %% off or more", figure(w.Unit, w.Value), number(100*w.Most))
	}
	return fmt.Sprintf("%s, up to %s %% off", figure(w.Unit, w.Value), number(100*w.Most))
}

// figure formats a value with its unit.
func figure(unit string, v float64) string {
	if name, ok := strings.CutSuffix(unit, "-ns"); ok {
		return name + " " + duration(v)
	}
	return number(v) + " " + unit
}
