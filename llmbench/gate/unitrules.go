package gate

import "golang.org/x/perf/benchfmt"

// A UnitRule is what Unit lines say about a unit.
type UnitRule struct {
	Better string  // "higher", "lower", or "" if not known
	Gated  bool    // the unit has a margin
	Points bool    // values are percentages of observations, and Margin is in percentage points
	Margin float64 // a share, or 0.01 for each percentage point
	same   *tolerance
}

// Same reports whether the unit has a tolerance, same=.
func (r UnitRule) Same() bool { return r.same != nil }

// Unlike reports whether two values of the unit, which are 0 or more and tidied, differ by more than the tolerance.
func (r UnitRule) Unlike(a, b float64, tidied string) bool {
	return r.same != nil && r.same.exceeded(a, b, tidied)
}

// UnitRules returns the rules of lines, by tidied unit. The margins and tolerances of over override those of lines. A
// line that is wrong is a problem.
func UnitRules(over, lines []*benchfmt.UnitMetadata) (map[string]UnitRule, []Problem) {
	rules, problems := readRules(&results{units: over}, &results{}, &results{units: lines})
	all := map[string]UnitRule{}
	for unit, r := range rules {
		u := UnitRule{Better: r.direction(), Gated: r.gated, Points: r.points, Margin: r.margin}
		if r.sameBy != nil {
			u.same = &r.same
		}
		all[unit] = u
	}
	return all, problems
}
