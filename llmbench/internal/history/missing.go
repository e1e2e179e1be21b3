package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// remembered is the number of earlier runs whose figures a run must have: as many as a baseline has.
const remembered = 60

// missing returns what the night lacks of what the nights before it had, back to the newest accepted night, which
// counts, and at most remembered nights: benchmarks, figures of gated units, and margins. A benchmark that is not
// measured each night is missing only when it would be due.
func (c *checker) missing(night int) []string {
	from := max(0, night-remembered, c.accepted())
	had, rows := map[figure][]int{}, map[benchproc.Key]bool{}
	var order []figure
	for n := from; n <= night; n++ {
		for _, cell := range c.nights[n].Cells {
			f := figure{cell.Row, cell.Unit}
			all, again := had[f]
			if !again {
				order = append(order, f)
			}
			if len(all) == 0 || all[len(all)-1] != n {
				had[f] = append(all, n)
			}
			rows[cell.Row] = n == night
		}
	}
	gated, texts := c.rulesLost(from, night)
	missing := map[string]bool{}
	for _, f := range order {
		switch {
		case !due(had[f], night):
		case !rows[f.row]:
			missing[c.reader.shortName(f.row)] = true
		case gated[f.unit] || c.rules[f.unit].Gated:
			missing[c.reader.shortName(f.row)+" "+c.unit(f.unit)] = true
		}
	}
	return append(slices.Sorted(maps.Keys(missing)), texts...)
}

// due reports whether a figure is missing in a night. The nights that had the figure are sorted. The figure was due as
// soon as their usual distance had passed. A figure of a single night is missing only in the night after.
func due(had []int, night int) bool {
	if len(had) == 1 {
		return had[0] == night-1
	}
	var distances []float64
	for i := 1; i < len(had); i++ {
		distances = append(distances, float64(had[i]-had[i-1]))
	}
	last := had[len(had)-1]
	return last < night && float64(night-last) >= robust.Median(distances)
}

// rulesLost returns the units that were gated in one of the nights from the night from on, and what the night's Unit
// lines lack of the Unit lines before.
func (c *checker) rulesLost(from, night int) (gated map[string]bool, texts []string) {
	gated = map[string]bool{}
	told := map[string]bool{}
	measured := map[string]bool{}
	for _, cell := range c.nights[night].Cells {
		measured[cell.Unit] = true
	}
	for n := night - 1; n >= from; n-- {
		run := c.nights[n]
		rules, _, err := c.rulesOf(run) // what is wrong in the Unit lines of an old run does not matter here
		if err != nil {
			continue
		}
		for _, unit := range slices.Sorted(maps.Keys(rules)) {
			before, now := rules[unit], c.rules[unit]
			gated[unit] = gated[unit] || before.Gated
			if lost := lostRule(before, now); lost != "" && measured[unit] && !told[unit] {
				told[unit] = true
				texts = append(texts, fmt.Sprintf("%s of %s, which run %s had", lost, c.unit(unit), run.Name))
			}
		}
	}
	return gated, texts
}

// lostRule says what a Unit line lacks of the one before, or "".
func lostRule(before, now gate.UnitRule) string {
	switch {
	case before.Gated && !now.Gated:
		return "the margin"
	case before.Gated && before.Better != now.Better:
		return "better=" + before.Better
	case before.Same() && !now.Same():
		return "same="
	}
	return ""
}

// missed describes what is missing in one line.
func missed(all []string) string {
	const shown = 3
	text := "missing in this run: " + strings.Join(all[:min(shown, len(all))], ", ")
	if more := len(all) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
