package answer

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// A Kind says what an answer is about.
type Kind string

// These are the kinds of answers.
const (
	Verdict    Kind = "verdict"    // a verdict of package gate
	Comparison Kind = "comparison" // a comparison of systems at equal loads
	Load       Kind = "load"       // one system over its load
	Catalogue  Kind = "catalogue"  // many benchmarks of one system
	Run        Kind = "run"        // single loads
)

// An Answer is what the results tell, in words.
type Answer struct {
	Kind      Kind
	Measured  []Fact
	Sentences []string
	Warnings  []string
	Notes     []string // what is worth knowing but puts no value in doubt
	// About is the group that the first sentence is about. It is nil for a verdict, and if there
	// are no results.
	About *systems.Group
	// Compared holds the systems that a comparison names, the best first. By holds the units by
	// which they were compared. Each row has one of these units.
	Compared []*systems.System
	By       []string
}

// A Fact is one thing that was measured or used, such as the model.
type Fact struct{ Key, Value string }

// maxGroups is the largest number of groups that the answer describes.
const maxGroups = 4

// Of returns the answer to d, whose rows the groups hold. The verdict may be nil.
func Of(d *results.Data, groups []*systems.Group, verdict *gate.Report, slo func(*systems.Group) systems.SLO) *Answer {
	a := &Answer{}
	a.Warnings, a.Notes = warnings(d)
	if verdict != nil {
		groups = nil // both files have the same systems
	}
	a.Measured = measured(d, groups, slo)
	if verdict != nil {
		a.Kind, a.Sentences = Verdict, judged(verdict)
		return a
	}
	if len(groups) == 0 {
		a.Kind, a.Sentences = Run, []string{"No benchmark has a result."}
		return a
	}
	if isCatalogue(groups) {
		a.Kind, a.Sentences = Catalogue, catalogue(groups, d)
		return a
	}
	type told struct {
		kind Kind
		of   *systems.Group
		says []string
		comparison
	}
	var all []told
	for _, g := range groups {
		f := told{of: g}
		limits := slo(g)
		load, swept, _ := g.Swept()
		f.comparison = compared(g, limits)
		switch {
		case f.comparison.says != nil:
			f.kind, f.says = Comparison, f.comparison.says
		case load != "":
			f.kind = Load
			for _, s := range swept {
				if len(s.Rows) > 1 {
					f.says = append(f.says, overLoad(s, limits)...)
				}
			}
		default:
			f.kind, f.says = Run, single(g)
		}
		if len(f.says) > 0 {
			all = append(all, f)
		}
	}
	// The groups with the most to tell come first: groups over the load before others, and within
	// each kind comparisons before others.
	weight := func(f told) (w int) {
		if load, _, _ := f.of.Swept(); load != "" {
			w += 2
		}
		if f.kind == Comparison {
			w++
		}
		return w
	}
	slices.SortStableFunc(all, func(x, y told) int { return weight(y) - weight(x) })
	for i, f := range all {
		if i == maxGroups {
			a.Sentences = append(a.Sentences, fmt.Sprintf("%d further groups of benchmarks are below.", len(all)-i))
			break
		}
		if i == 0 {
			a.Kind, a.About, a.Compared, a.By = f.kind, f.of, f.systems, f.units
		}
		if len(all) > 1 {
			f.says[0] = f.of.Title + ": " + f.says[0]
		}
		a.Sentences = append(a.Sentences, f.says...)
	}
	return a
}
