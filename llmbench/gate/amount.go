package gate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchunit"
)

// parseAmount parses an amount of a unit: a finite number of 0 or more in the unit as a line spells it, or a duration such
// as "2ms" if the unit is a time.
func parseAmount(s, unit string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if in := nanoseconds(unit); err != nil && in > 0 {
		var d time.Duration
		if d, err = time.ParseDuration(s); err == nil {
			v = float64(d) / in
		}
	}
	if err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// nanoseconds returns how many nanoseconds one of a unit of time is, or 0 for other units. The end of its name says what
// it is, as in p50-ttft-ns and added-ttft-ms.
func nanoseconds(unit string) float64 {
	name, per, _ := strings.Cut(unit, "/")
	if per != "" && per != "op" {
		return 0
	}
	return map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}[name[1+strings.LastIndexByte(name, '-'):]]
}

// amount formats a value for a reader, with four significant digits. A time has the symbol s with a prefix,
// for example "31.56ms" for 31560000 ns, and an amount of memory has the symbol B with a prefix. Other
// values have a prefix only from 1000 on: "1.305k" for 1305 tok/s, but "0.5794" for 0.5794 %.
func amount(v float64, unit string) string {
	if in := nanoseconds(unit); in > 1 { // benchunit knows ns alone
		v, unit = v*in, "ns"
	}
	factor, tidied := benchunit.Tidy(1, unit)
	symbol := ""
	numerator, _, _ := strings.Cut(tidied, "/")
	switch {
	case slices.Contains(strings.FieldsFunc(numerator, func(r rune) bool { return r == '-' || r == '*' }), "sec"):
		symbol = "s"
	case benchunit.ClassOf(tidied) == benchunit.Binary:
		symbol = "B"
	}
	switch {
	case v == 0:
		return "0" + symbol
	case symbol == "" && math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return benchunit.Scale(v*factor, benchunit.ClassOf(tidied)) + symbol
}
