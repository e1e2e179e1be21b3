package pictures

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Topic is a table of the benchmarks that answer the same kind of question, with a row for each.
type Topic struct {
	Title string
	Table Table
}

// topics holds the benchmarks of package scenarios by what they answer. The first topic has all
// benchmarks that are not named.
var topics = []topic{
	{"Speed", nil},
	{"Capacity", []string{"Sweep", "SLO"}},
	{"Caching", []string{"PrefixCache", "MultiTurn", "Agent"}},
	{"Correctness", []string{"Accuracy", "Agreement", "ToolCalls", "StructuredOutput"}},
	{"The harness", answer.OfHarness},
}

// controls holds the last part of the names of passes that scenarios make beside the measured ones.
var controls = []string{"asked-once", "references", "capacity"}

type topic struct {
	title string
	bases []string
}

// maxBesides is the largest number of further values in a row.
const maxBesides = 4

// Topics returns a table for each topic that has benchmarks, all with the same columns. A row shows a
// system of a group. Its values are from the lowest to the highest load.
func Topics(groups []*systems.Group) (all []*Topic) {
	// Beside results, rows of which only records exist are the passes of searches and of controls.
	recorded := func(r *results.Row) bool { return r.Line == 0 }
	if !slices.ContainsFunc(groups, func(g *systems.Group) bool {
		return slices.ContainsFunc(g.Rows, func(r *results.Row) bool { return !recorded(r) })
	}) {
		recorded = func(r *results.Row) bool { return slices.Contains(controls, path.Base(r.Base)) }
	}
	var lines []line
	for _, g := range groups {
		for _, s := range g.Systems {
			if rows := slices.DeleteFunc(slices.Clone(s.Rows), recorded); len(rows) > 0 {
				lines = append(lines, line{rows: rows})
			}
		}
	}
	var first []*results.Row
	for _, l := range lines {
		first = append(first, l.rows[0])
	}
	for i, label := range systems.Labels(first, append([]string{"backend", "model", "upto", "gomaxprocs"}, compare.LoadKeys...)...) {
		if lines[i].label = label; !strings.Contains(label, " not streamed") {
			lines[i].label = strings.ReplaceAll(label, " streamed", "") // nearly all benchmarks stream
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return results.Natural(a.label, b.label) })
	head := []string{"benchmark", "load"}
	for _, c := range columns.Benchmarks {
		head = append(head, c.Title)
	}
	head = append(head, "besides", "true speed of the simulated server")
	for i, of := range topics {
		t := &Topic{Title: of.title}
		t.Table.Head = head
		for _, l := range lines {
			has := func(t topic) bool { return slices.Contains(t.bases, l.rows[0].Base) }
			if has(of) || i == 0 && !slices.ContainsFunc(topics[1:], has) {
				t.Table.Add(l.cells()...)
			}
		}
		if len(t.Table.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// A line is a system of a group, with a label.
type line struct {
	label string
	rows  []*results.Row
}

// cells returns the row of a system.
func (l *line) cells() []Cell {
	first, last := l.rows[0], l.rows[len(l.rows)-1]
	load := last.LoadText()
	_, x := first.Load()
	if _, y := last.Load(); x != y {
		load = human.Scale{Factor: 1}.Number(x) + " to " + load
	}
	cells := []Cell{{Text: cmp.Or(l.label, first.Base)}, {Text: load}}
	for _, c := range columns.Benchmarks {
		cells = append(cells, span(l.rows, c.Units...))
	}
	var besides []string
	for _, unit := range last.Units {
		if _, general := sample.Find(sample.Units, unit); general && !slices.Contains(columns.Beside, unit) || strings.HasSuffix(unit, "/op") || unit == "question-set" || len(besides) == maxBesides {
			continue
		}
		if c := span(l.rows, unit); c.Text != "" && c.Text != "0 %" {
			besides = append(besides, columns.Name(unit)+" "+c.Text)
		}
	}
	return append(cells, Cell{Text: strings.Join(besides, "; ")}, Cell{Text: last.Truth})
}

// span returns the cell of the medians of the rows, from the first to the last one that has one of
// the units.
func span(rows []*results.Row, units ...string) (c Cell) {
	var first, last *results.Row
	for _, r := range rows {
		if _, unit := r.Spread(units...); unit != "" {
			if last = r; first == nil {
				first = r
			}
		}
	}
	if first == nil {
		return c
	}
	from, unit := first.Spread(units...)
	to, _ := last.Spread(unit)
	scale := human.ScaleOf(unit, max(from.Mid, to.Mid))
	c.Doubt = last.Doubt(unit)
	if c.Text = scale.Text(to.Mid); first != last && scale.Text(from.Mid) != c.Text {
		c.Text = scale.Number(from.Mid) + " → " + c.Text
	}
	c.Exact = Exactly(from.Mid) + " → " + Exactly(to.Mid) + " " + unit
	if first == last {
		c.Exact = Exactly(to.Mid) + " " + unit
	}
	return c
}
