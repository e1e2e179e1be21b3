package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// maxGroups is the largest number of groups whose paragraphs are all in the answer.
const maxGroups = 4

// Of returns the answer to d, whose rows the groups hold. The verdict may be nil.
func Of(d *results.Data, groups []*systems.Group, verdict *gate.Report, slo func(*systems.Group) systems.SLO) *Answer {
	a := of(d, groups, verdict, slo)
	if verdict == nil && sameSystem(d.Rows) {
		a.found(d.Rows)
		a.carried(d.Rows)
	}
	return a
}

// of is Of without the limits that searches found.
func of(d *results.Data, groups []*systems.Group, verdict *gate.Report, slo func(*systems.Group) systems.SLO) *Answer {
	a := &Answer{}
	a.Stated, a.Warnings, a.Notes = warnings(d)
	a.Stated = append(statedBy(d.Rows), a.Stated...)
	if verdict != nil {
		groups = nil // both files have the same systems
	}
	a.Measured = measured(d, groups, slo)
	if verdict != nil {
		a.Kind, a.Sentences = Verdict, judged(verdict)
		a.Short, a.Tiles = verdictShort(verdict)
		a.Tiles = append(a.Tiles, prices(d.Rows)...)
		return a
	}
	if len(groups) == 0 {
		a.Kind, a.Sentences = Run, []string{"No benchmark has a result."}
		return a
	}
	if isCatalogue(groups) {
		a.Kind, a.Sentences = Catalogue, catalogue(groups, d)
		a.Short, a.Sentences = strings.TrimSuffix(a.Sentences[0], "."), a.Sentences[1:]
		return a
	}
	var all []Told
	for _, g := range groups {
		if f := tell(g, slo(g)); len(f.Says) > 0 {
			all = append(all, f)
		}
	}
	// The groups with the most to tell come first: groups over the load before others, and within
	// each kind comparisons before others.
	weight := func(f Told) (w int) {
		if load, _, _ := f.Group.Swept(); load != "" {
			w += 2
		}
		if f.Kind == Comparison {
			w++
		}
		return w
	}
	slices.SortStableFunc(all, func(x, y Told) int { return weight(y) - weight(x) })
	if len(groups) > maxGroups {
		a.Kind, a.Sentences = Many, many(all, len(groups))
		a.Short, a.Sentences = a.Sentences[0], a.Sentences[1:]
		slices.SortStableFunc(all, func(x, y Told) int { return alone(x) - alone(y) })
		a.Groups = all
		return a
	}
	for i, f := range all {
		if i == 0 {
			a.Kind, a.About, a.Compared, a.By, a.Adds = f.Kind, f.Group, f.Compared, f.By, f.Adds
			a.first(f, slo(f.Group))
			if with := f.Group.Title + ": " + a.Short; a.Short != "" && len(all) > 1 && len(strings.Fields(with)) <= compare.MaxWords {
				a.Short = with
			}
		}
		if len(all) > 1 {
			f.Says[0] = f.Group.Title + ": " + f.Says[0]
		}
		a.Sentences = append(a.Sentences, f.Says...)
	}
	return a
}

// first sets what the first screen shows of a group.
func (a *Answer) first(f Told, slo systems.SLO) {
	if f.Kind == Comparison {
		a.Short = f.Short.Sentence
		if f.Adds {
			if a.Tiles = addedTiles(f.Compared, f.Short); len(a.Tiles) == 0 {
				a.Short = "In doubt: " + a.Short
			}
		} else {
			a.Tiles = against(f.Group, f.Compared, f.By, f.Short, slo)
			if loads := compare.Next(f.Compared[0].Load, measurements(f.Compared, f.By, slo), slo.Share); len(loads) > 0 {
				a.Next = []string{"measure " + strings.Join(loads, " and ")}
			}
		}
		if f.Short.Next != "" {
			a.Next = append([]string{f.Short.Next}, a.Next...)
		}
		return
	}
	s := f.Group.Systems[0]
	if _, swept, _ := f.Group.Swept(); f.Kind == Load {
		s = swept[slices.IndexFunc(swept, func(s *systems.System) bool { return len(s.Rows) > 1 })]
	} else if len(f.Group.Rows) > 1 {
		return // single loads, which are all as important
	}
	var r *results.Row
	if f.Kind == Load {
		a.Short, r = carries(s, slo)
		for _, load := range compare.Next(s.Load, measurements([]*systems.System{s}, columns.Throughput, slo), slo.Share) {
			a.Next = append(a.Next, "measure "+load)
		}
		if len(a.Next) == 0 && r != nil && r == s.Peak() && hasRoom(s, r) {
			a.Next = []string{"measure more than " + at(r)}
		}
	} else {
		r = s.Rows[0]
		a.Short = one(s, r)
	}
	if r != nil {
		a.Tiles = ofOne(s, r, slo)
	}
}

// alone returns 1 if nothing in a group can be compared, and otherwise 0. A gateway is not compared with the server
// behind it.
func alone(f Told) int {
	if len(f.Compared) < 2 || f.Adds {
		return 1
	}
	return 0
}

// tell returns what a group tells.
func tell(g *systems.Group, limits systems.SLO) Told {
	if f := compared(g, limits); f.Says != nil {
		return f
	}
	load, swept, _ := g.Swept()
	if load == "" {
		return Told{Kind: Run, Group: g, Says: single(g)}
	}
	f := Told{Kind: Load, Group: g}
	for _, s := range swept {
		if len(s.Rows) > 1 {
			f.Says = append(f.Says, overLoad(s, limits)...)
		}
	}
	return f
}

// leastRuns is the smallest number of runs of each of two systems with which a test of ranks can show a difference.
const leastRuns = 4

// many says what many groups tell together: how often each server is the fastest. The first sentence is short.
func many(all []Told, groups int) []string {
	var order []string
	count := map[string]int{}
	compared, runs := 0, math.MaxInt
	for _, f := range all {
		if f.Kind != Comparison || f.Adds {
			continue
		}
		for _, s := range f.Compared {
			for _, r := range s.Rows {
				runs = min(runs, r.Samples())
			}
		}
		compared++
		name := cmp.Or(f.Compared[0].Rows[0].Key("backend"), f.Compared[0].Name)
		if count[name]++; count[name] == 1 {
			order = append(order, name)
		}
	}
	said := fmt.Sprintf("There are %d groups of benchmarks with a model and a workload of their own. Choose one below.", groups)
	if compared == 0 {
		return []string{said}
	}
	slices.SortStableFunc(order, func(x, y string) int { return count[y] - count[x] })
	var best []string
	for i, name := range order {
		if i == maxValues {
			best = append(best, fmt.Sprintf("others in %d", len(order)-i))
			break
		}
		best = append(best, fmt.Sprintf("%s in %d", name, count[name]))
	}
	short := fmt.Sprintf("No system leads most of %d comparisons: choose a model and a workload", compared)
	if most := count[order[0]]; len(order) == 1 || count[order[1]] < most {
		short = fmt.Sprintf("%s has the fastest median in %d of %d comparisons: choose a model and a workload", order[0], most, compared)
	}
	said += fmt.Sprintf(" %d of them compare systems. The fastest median is of %s.", compared, strings.Join(best, ", "))
	if runs < leastRuns {
		short = "Preliminary: " + strings.Replace(short, "No system", "no system", 1)
		said += fmt.Sprintf(" Preliminary: there are groups with %s of each system, and fewer than %d decide nothing.", numbers.Count(runs, "run"), leastRuns)
	}
	return []string{short, said}
}
