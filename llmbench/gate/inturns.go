package gate

import (
	"fmt"
	"slices"
)

// inTurns returns the number of rounds if the results of the two columns of a file are pairs: each gated row of both
// columns has a unit with the rule pairs=yes, whose values are the same in both columns, result by result. It returns 0
// if no row has such a unit. Anything else is a problem.
func (m *matcher) inTurns() (rounds int) {
	var without []pair
	unit := ""
	for _, p := range m.pairs {
		if !slices.ContainsFunc(m.unitsOf(p), func(u string) bool { return ruleOf(m.rules, u).gated && p.has(u) }) {
			continue
		}
		at := slices.IndexFunc(m.unitsOf(p), func(u string) bool { return ruleOf(m.rules, u).pairs })
		if at < 0 {
			without = append(without, p)
			continue
		}
		unit = m.unitsOf(p)[at]
		if why := p.unpaired(unit); why != "" {
			m.problemf(m.new, p.new, "", "%s: want the whole output of each process, with both columns", why)
		}
		rounds = max(rounds, p.old.n, p.new.n)
	}
	if rounds > 0 {
		for _, p := range without {
			m.problemf(m.new, p.new, "", "no %s, by which the results of other rows are pairs: want pairs in all rows or in none", unit)
		}
	}
	return rounds
}

// unpaired returns why the results of p are not pairs by the values of a unit, or "".
func (p pair) unpaired(unit string) string {
	old, new := p.old.values[unit], p.new.values[unit]
	if len(old) != p.old.n || len(new) != p.new.n {
		return fmt.Sprintf("%s in %d of %s and in %d of %s", unit, len(old), plural(p.old.n, "old result"), len(new), plural(p.new.n, "new result"))
	}
	seen := map[float64]bool{}
	for i, v := range new {
		switch {
		case i >= len(old):
			return fmt.Sprintf("%s of new result %d is %.0f, and old has %s", unit, i+1, v, plural(len(old), "result"))
		case v != old[i]:
			return fmt.Sprintf("%s of result %d is %.0f, but %.0f in old", unit, i+1, v, old[i])
		case seen[v]:
			return fmt.Sprintf("%s is %.0f in two results", unit, v)
		}
		seen[v] = true
	}
	if len(old) > len(new) {
		return fmt.Sprintf("%s of old result %d is %.0f, and new has %s", unit, len(new)+1, old[len(new)], plural(len(new), "result"))
	}
	return ""
}
