package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A rule is what Unit lines say of a unit
// (https://pkg.go.dev/golang.org/x/perf/cmd/benchstat#hdr-Unit_metadata):
//
//	Unit output-tok/s better=higher gate=2%
type rule struct {
	better int // +1: higher, -1: lower, 0: not known
	gated  bool
	margin float64 // share of the old value that may be lost
	// betterBy and gateBy are the lines that say so, nil when none does.
	betterBy, gateBy *benchfmt.UnitMetadata
}

// direction is "higher", "lower" or "".
func (r rule) direction() string {
	switch {
	case r.better > 0:
		return "higher"
	case r.better < 0:
		return "lower"
	}
	return ""
}

// readRules joins what the files say, by tidied unit. A line in one file holds
// for all, so that nobody ends a gate by leaving it out of the new file. Files
// that contradict each other are a problem, except that a margin of the file of
// units has its way over others. A unit without a better= has that of the Go
// team's own, such as ns/op.
func readRules(units, old, new *results) (map[string]rule, []Problem) {
	rules := map[string]rule{}
	var problems []Problem
	problemf := func(by *benchfmt.UnitMetadata, format string, args ...any) {
		file, line := by.Pos()
		problems = append(problems, Problem{File: file, Line: line,
			Message: "unit " + by.OrigUnit + ": " + fmt.Sprintf(format, args...)})
	}
	for _, f := range []*results{units, old, new} {
		for _, by := range f.units {
			r := rules[by.Unit]
			switch by.Key {
			case "better":
				sign := map[string]int{"higher": +1, "lower": -1}[by.Value]
				switch {
				case sign == 0:
					problemf(by, "better=%s: want higher or lower", by.Value)
				case r.betterBy == nil:
					r.better, r.betterBy = sign, by
				case r.better != sign:
					problemf(by, "better=%s, but %s says better=%s: want one direction", by.Value, at(r.betterBy), r.betterBy.Value)
				}
			case "gate":
				margin, err := parseMargin(by.Value)
				switch {
				case err != nil:
					problemf(by, "gate=%s: %v", by.Value, err)
				case r.gateBy == nil:
					r.gated, r.margin, r.gateBy = true, margin, by
				case r.margin != margin && !slices.Contains(units.units, r.gateBy):
					problemf(by, "gate=%s, but %s says gate=%s: want one margin", by.Value, at(r.gateBy), r.gateBy.Value)
				}
			}
			rules[by.Unit] = r
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(rules)) {
		r := rules[unit]
		if r.betterBy == nil {
			r.better = builtinBetter(unit)
			rules[unit] = r
		}
		if r.gated && r.better == 0 {
			problemf(r.gateBy, "gate=%s without better=: want better=higher or better=lower", r.gateBy.Value)
		}
	}
	return rules, problems
}

// ruleOf is the rule of a unit that may have no Unit line.
func ruleOf(rules map[string]rule, unit string) rule {
	if r, ok := rules[unit]; ok {
		return r
	}
	return rule{better: builtinBetter(unit)}
}

// builtinBetter is what benchfmt knows of units without metadata.
func builtinBetter(unit string) int { return benchfmt.UnitMetadataMap{}.GetBetter(unit) }

func at(by *benchfmt.UnitMetadata) string {
	file, line := by.Pos()
	return fmt.Sprintf("%s:%d", file, line)
}

// parseMargin reads a share, "2%".
func parseMargin(s string) (float64, error) {
	digits, ok := strings.CutSuffix(s, "%")
	percent, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(percent >= 0 && percent < 100) {
		return 0, fmt.Errorf("want a percentage from 0%% to less than 100%%")
	}
	return percent / 100, nil
}
