package gate

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// inTurns returns the number of rounds if the results of the two columns of a file are pairs: each gated row of both
// columns has a unit with the rule pairs=yes, whose values are the same in both columns, result by result. It returns 0
// if no value is the same. Anything else is a problem.
func (m *matcher) inTurns() (rounds int) {
	var judged []pair
	unit := ""
	for _, p := range m.pairs {
		if !slices.ContainsFunc(m.unitsOf(p), func(u string) bool { return ruleOf(m.rules, u).gated && p.has(u) }) {
			continue
		}
		judged = append(judged, p)
		for _, u := range m.unitsOf(p) {
			if ruleOf(m.rules, u).pairs && slices.ContainsFunc(p.new.values[u], func(v float64) bool { return slices.Contains(p.old.values[u], v) }) {
				unit = u
			}
		}
	}
	if unit == "" {
		return 0
	}
	for _, p := range judged {
		if why := p.unpaired(unit); why != "" {
			m.problemf(m.new, p.new, "", "%s", why)
		}
		rounds = max(rounds, p.old.n, p.new.n)
	}
	return rounds
}

// unpaired returns why the results of p are not pairs by the values of a unit, or "".
func (p pair) unpaired(unit string) string {
	const want = ": want the whole output of each process, with both columns"
	old, new := p.old.values[unit], p.new.values[unit]
	switch {
	case len(old) == 0 && len(new) == 0:
		return fmt.Sprintf("no %s, by which the results of other rows are pairs: want pairs in all rows or in none", unit)
	case len(old) != p.old.n || len(new) != p.new.n:
		return fmt.Sprintf("%s in %d of %s and in %d of %s"+want, unit, len(old), numbers.Count(p.old.n, "old result"), len(new), numbers.Count(p.new.n, "new result"))
	}
	seen := map[float64]bool{}
	for i, v := range new {
		switch {
		case i >= len(old):
			return fmt.Sprintf("%s of new result %d is %.0f, and old has %s"+want, unit, i+1, v, numbers.Count(len(old), "result"))
		case v != old[i]:
			return fmt.Sprintf("%s of result %d is %.0f, but %.0f in old"+want, unit, i+1, v, old[i])
		case seen[v]:
			return fmt.Sprintf("%s is %.0f in two results"+want, unit, v)
		}
		seen[v] = true
	}
	if len(old) > len(new) {
		return fmt.Sprintf("%s of old result %d is %.0f, and new has %s"+want, unit, len(new)+1, old[len(new)], numbers.Count(len(new), "result"))
	}
	return ""
}
