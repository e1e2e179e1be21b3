package gate

import (
	"golang.org/x/perf/benchunit"
)

// defaultUnits are the units of the testing package. If no Unit line of a comparison has a margin, they may be worse by
// defaultMargin.
var defaultUnits = []string{"ns/op", "MB/s", "B/op", "allocs/op"}

const defaultMargin = 0.05

// addDefaults gives the units of the testing package their default margins, if no unit has a margin. It returns the
// units that now have one: those in the results.
func (m *matcher) addDefaults() (units []string) {
	for _, r := range m.rules {
		if r.gateBy != nil {
			return nil
		}
	}
	for _, unit := range defaultUnits {
		_, tidied := benchunit.Tidy(1, unit)
		spelled, has := m.units[tidied]
		if !has {
			continue
		}
		r := ruleOf(m.rules, unit)
		r.gated, r.margin = true, unitMargin{share: defaultMargin}
		m.rules[tidied], units = r, append(units, spelled)
	}
	return units
}
