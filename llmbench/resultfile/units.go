package resultfile

import (
	"slices"
	"strings"
)

// kinds lists units by kind, with the default margin of the kind. Of each kind, the gate judges only one unit:
// the first in the list that a result has. The later units are for tools that do not report the earlier ones.
var kinds = []struct {
	margin string
	units  []string
}{
	{"2%", []string{"output-tok/s", "srv-output-tok/s", "srv-prompt-tok/s", "audio-s/s", "prompt-tok/s", "total-tok/s", "req/s"}},
	{"5%", []string{"p50-ttft-ns", "mean-ttft-ns", "mean-e2e-ns", "p50-e2e-ns"}},
	{"2%", []string{"mean-tpot-ns", "p50-tpot-ns", "mean-token-itl-ns", "mean-tpot-incl-ttft-ns", "mean-itl-ns", "p50-itl-ns"}},
}

// alike lists the units in which both sides must agree, with the tolerances.
var alike = map[string]string{"out-tok/req": "2%", "in-tok/req": "2%", "fail-%": "5"}

// UnitLines returns the Unit lines of the benchmark format for the results in some files. They have the
// directions, margins and tolerances that llmbench uses. UnitLines returns none for files in Go benchmark
// format, which contain their own.
func UnitLines(files []*File) []string {
	var units, gated []string
	margins := map[string]string{}
	for _, f := range files {
		for _, r := range f.Results {
			for _, v := range r.Values {
				if !slices.Contains(units, v.Unit) {
					units = append(units, v.Unit)
				}
			}
			for _, kind := range kinds {
				if i := slices.IndexFunc(kind.units, r.has); i >= 0 {
					gated, margins[kind.units[i]] = append(gated, kind.units[i]), kind.margin
				}
			}
		}
	}
	var lines []string
	for _, unit := range units {
		line := "Unit " + unit
		if better := direction(unit); better != "" {
			line += " better=" + better
		}
		if slices.Contains(gated, unit) {
			line += " gate=" + margins[unit]
		}
		if same := alike[unit]; same != "" {
			line += " same=" + same
		}
		if strings.Contains(line, "=") {
			lines = append(lines, line)
		}
	}
	return lines
}

// has reports whether a result has a value in the given unit.
func (r Result) has(unit string) bool {
	return slices.ContainsFunc(r.Values, func(v Value) bool { return v.Unit == unit })
}

// direction returns which values of a unit are better: "higher" or "lower", or "" for a unit that describes
// what was measured.
func direction(unit string) string {
	switch {
	case strings.HasSuffix(unit, "-ns"), unit == "fail-%":
		return "lower"
	case strings.HasSuffix(unit, "/s"), unit == "accept-len":
		return "higher"
	}
	return ""
}
