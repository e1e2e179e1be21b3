package gate

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// A rule is the direction, the margin and the tolerance of a unit, from Unit lines
// (https://pkg.go.dev/golang.org/x/perf/cmd/benchstat#hdr-Unit_metadata):
//
//	Unit output-tok/s better=higher gate=2%
//	Unit out-tok/req same=2%
//	Unit accuracy-% better=higher gate=2pp of=checked-req apart=question-set
//	Unit arms-seed pairs=yes
//	Unit p99-ttft-ns better=lower max=2ms
//	Unit bursts-% better=lower withheld=server says=buffers-streams:come-in-bursts
type rule struct {
	better int // +1: higher is better, -1: lower is better, 0: not known
	gated  bool
	margin unitMargin
	of     string // the unit with the number of observations
	apart  string // a unit whose values must differ between samples; "" means none
	same   tolerance
	pairs  bool // results with equal values of the unit are a pair
	limit  *limit
	// withheld is withheldServer or withheldClient if a result with the unit lacks figures, which were withheld. says
	// are the words for that.
	withheld, says string
	// betterBy, gateBy and sameBy are the lines that set better, gated and same, or nil.
	betterBy, gateBy, sameBy *benchfmt.UnitMetadata
}

// direction returns "higher", "lower" or "".
func (r rule) direction() string {
	switch {
	case r.better > 0:
		return "higher"
	case r.better < 0:
		return "lower"
	}
	return ""
}

// readRules collects the rules in all files, by tidied unit. A Unit line in one file applies to all files,
// so that a new file without Unit lines does not disable the gate. Contradictions between files are
// problems, except that a margin or a tolerance in the file of units overrides the others. A unit without
// better= has the direction that benchfmt knows for it, such as lower for ns/op.
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
					problemf(by, "better=%s, but %s says better=%s: want one direction", by.Value, position(r.betterBy), r.betterBy.Value)
				}
			case "gate":
				margin, err := parseMargin(by.Value, by.OrigUnit)
				switch {
				case err != nil:
					problemf(by, "gate=%s: %v", by.Value, err)
				case r.gateBy == nil:
					r.gated, r.margin, r.gateBy = !margin.none, margin, by
				case r.margin != margin && !slices.Contains(units.units, r.gateBy):
					problemf(by, "gate=%s, but %s says gate=%s: want one margin", by.Value, position(r.gateBy), r.gateBy.Value)
				}
			case "of":
				if r.of = by.Value; by.Value == "" {
					problemf(by, "of=: want the unit with the number of observations")
				}
			case "apart":
				r.apart = by.Value
			case "pairs":
				if r.pairs = by.Value == "yes"; !r.pairs {
					problemf(by, "pairs=%s: want yes", by.Value)
				}
			case "same":
				same, err := parseTolerance(by.Value, by.OrigUnit)
				switch {
				case err != nil:
					problemf(by, "same=%s: %v", by.Value, err)
				case r.sameBy == nil:
					r.same, r.sameBy = same, by
				case r.same != same && !slices.Contains(units.units, r.sameBy):
					problemf(by, "same=%s, but %s says same=%s: want one tolerance", by.Value, position(r.sameBy), r.sameBy.Value)
				}
			case "max", "min":
				l, err := parseLimit(by)
				switch {
				case err != nil:
					problemf(by, "%s=%s: %v", by.Key, by.Value, err)
				case r.limit == nil:
					r.limit = l
				case r.limit.amount != l.amount && !slices.Contains(units.units, r.limit.by) || r.limit.by.Key != by.Key:
					problemf(by, "%s=%s, but %s says %s=%s: want one budget", by.Key, by.Value, position(r.limit.by), r.limit.by.Key, r.limit.by.Value)
				}
			case "withheld":
				switch by.Value {
				case withheldServer, withheldClient:
					r.withheld = by.Value
				default:
					problemf(by, "withheld=%s: want server or client, whose doing it is that figures are withheld", by.Value)
				}
			case "says":
				r.says = by.Value
			case "assume": // for benchstat
			default:
				if f == units { // results may have keys of other programs
					problemf(by, "%s=%s: want better, gate, max, min, same, of, apart, pairs, withheld, says or assume", by.Key, by.Value)
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
		if l := r.limit; l != nil && r.better != l.better {
			want := map[int]string{-1: "better=lower", +1: "better=higher"}[l.better]
			problems = append(problems, r.limit.problem("want %s beside %s=", want, l.by.Key))
		}
		if r.margin.points && r.of == "" {
			problemf(r.gateBy, "gate=%s without of=: want of=UNIT, the unit with the number of observations", r.gateBy.Value)
		}
	}
	return rules, problems
}

// ruleOf returns the rule for a unit as files write it. The unit need not have a Unit line.
func ruleOf(rules map[string]rule, unit string) rule {
	_, tidied := benchunit.Tidy(1, unit)
	if r, ok := rules[tidied]; ok {
		return r
	}
	return rule{better: builtinBetter(tidied)}
}

// builtinBetter returns the direction that benchfmt knows for a tidied unit, or 0.
func builtinBetter(unit string) int { return benchfmt.UnitMetadataMap{}.GetBetter(unit) }

// position returns the file and line of a Unit line.
func position(by *benchfmt.UnitMetadata) string {
	file, line := by.Pos()
	return fmt.Sprintf("%s:%d", file, line)
}

// Whose doing it is that figures were withheld: the value of withheld= in a Unit line.
const (
	withheldServer = "server" // what was measured: more of such results are a regression
	withheldClient = "client" // the program or the machine that measures: more of such results cannot be judged
)
