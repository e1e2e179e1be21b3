package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Read reads benchmark files, result files of other tools that package resultfile knows, and files of records.
// A path is a file, a pattern of [path/filepath.Match] or a folder; what a file is shows in its contents. The files
// of another tool in one folder, or of one pattern, are samples. Files in folders that are none of these are listed in Sources
// as not read. It is an error if a file cannot be read completely, or if there is nothing to report.
func Read(paths ...string) (*Data, error) { return results.Read(paths...) }

// New returns a report about d.
func New(d *Data, o Options) (*Report, error) {
	if o.Parts == nil {
		o.Parts = systems.DefaultParts
	}
	if err := setPrices(d.Rows, o.Prices); err != nil {
		return nil, err
	}
	r := &Report{Title: cmp.Or(o.Title, "Benchmark report"), Command: o.Command, Sources: d.Sources, rows: slices.Concat(d.Rows, d.Broken)}
	groups := systems.Groups(d.Rows, o.Parts)
	limits := map[*systems.Group]systems.SLO{}
	for _, g := range groups {
		limits[g] = systems.SLOOf(g.Rows)
		if o.SLO != (sample.SLO{}) {
			limits[g] = systems.SLO{Limits: o.SLO, Share: compare.DefaultShare, Given: true}
		}
	}
	slo := func(g *systems.Group) systems.SLO { return limits[g] }
	a := answer.Of(d, groups, o.Verdict, slo)
	if without := len(slices.DeleteFunc(slices.Clone(d.Rows), func(r *results.Row) bool { return len(r.Runs) > 0 })); o.SLO != (sample.SLO{}) && without > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d benchmarks have no records, so that nobody can tell whether their requests keep %v.", without, len(d.Rows), o.SLO))
	}
	if n := len(slices.DeleteFunc(slices.Clone(d.Rows), func(r *results.Row) bool { return !r.SpedUp() })); n > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d benchmarks are of a simulated server whose time runs faster or slower (speed in LLMBENCH_MOCK), so that no SLO is judged of them.", n, len(d.Rows)))
	}
	r.Short, r.Stated, r.Tiles, r.Next = a.Short, a.Stated, a.Tiles, a.Next
	r.Answer, r.Warnings, r.Notes = a.Sentences, a.Warnings, a.Notes
	for _, f := range a.Measured {
		r.Facts = append(r.Facts, [2]string{f.Key, f.Value})
	}
	r.Headline = headline(a, o.Verdict, slo)
	r.lead(a, groups)
	if a.Kind == answer.Many {
		r.groups(a, slo)
		r.section("lengths", "Lengths of answers", pictures.Lengths(d.Rows))
	} else if a.Kind == answer.Catalogue {
		r.folded("load", "Over load", groups, func(one []*systems.Group) []*pictures.Picture {
			return append(overLoad(one, slo), compared(one, slo)...)
		})
		r.section("lengths", "Lengths of answers", pictures.Lengths(d.Rows))
		r.distributions(groups, a.Compared)
	} else {
		r.section("load", "Over load", overLoad(groups, slo))
		r.section("comparison", "Comparison", append(compared(groups, slo), pictures.Lengths(d.Rows)...))
		r.distributions(groups, a.Compared)
	}
	r.section("errors", "Failures, and the client's own error", errorsOf(d))
	r.detail(d, a.Compared)
	for _, g := range groups {
		r.Figures = append(r.Figures, &block{ID: pictures.Slug("figures", g.Title), Title: g.Title, Table: pictures.Figures(g.Rows)})
	}
	r.provenance(d)
	r.unique()
	return r, nil
}

// setPrices gives rows the prices of their systems. It is an error if no row has one of the names, or if a row has several.
func setPrices(rows []*results.Row, prices map[string]float64) error {
	named := map[*results.Row]string{}
	for _, name := range slices.Sorted(maps.Keys(prices)) { // "" comes first: a name replaces the price of all
		found := false
		for _, row := range rows {
			if name != "" && !row.Is(name) {
				continue
			}
			if other := named[row]; other != "" {
				return fmt.Errorf("prices of %q and of %q: %s has both names: want one price for each system", other, name, row.Name)
			}
			row.Price(prices[name])
			named[row], found = name, true
		}
		if !found {
			return fmt.Errorf("price of %q: want the backend, the model or another part of a benchmark's name or configuration, or the name of a file", name)
		}
	}
	return nil
}

// headline returns the picture that shows the answer, or nil.
func headline(a *answer.Answer, verdict *gate.Report, slo func(*systems.Group) systems.SLO) *pictures.Picture {
	if verdict != nil {
		return pictures.Verdict(verdict)
	}
	if a.About == nil {
		return nil
	}
	if p := pictures.Frontier(a.About, slo(a.About)); p != nil && (a.Kind != answer.Comparison || a.Compared[0].Load != "") {
		return p
	}
	if a.Kind == answer.Comparison {
		if p := pictures.Standing(a.About, a.Compared, a.By); p != nil {
			return p
		}
	}
	if p := pictures.Headline(a.About); p != nil {
		return p
	}
	return pictures.Distributions(pictures.Slug("answer", a.About.Title), a.About.Title, a.About.Rows)
}

// maxDetail is the largest number of loads whose details are all on the page.
const maxDetail = 24

// detailed returns the benchmarks with records whose details are on the page, and the number of the others. Of many
// benchmarks, the failed ones and the benchmarks of the two best systems are on the page.
func detailed(d *Data, compared []*systems.System) (rows []*results.Row, left int) {
	rows = slices.DeleteFunc(slices.Concat(d.Rows, d.Broken), func(r *results.Row) bool { return len(r.Runs) == 0 })
	all := len(rows)
	if all <= maxDetail {
		return rows, 0
	}
	var best []*results.Row
	for _, s := range compared[:min(2, len(compared))] {
		best = append(best, s.Rows...)
	}
	if len(best) > 0 {
		rows = slices.DeleteFunc(rows, func(r *results.Row) bool { return r.Failed == "" && !slices.Contains(best, r) })
	}
	rows = rows[:min(len(rows), maxDetail)]
	return rows, all - len(rows)
}

// detail adds a section with a fold for each benchmark that has records. A fold shows the time
// line, some of the requests, and what tools would have printed.
func (r *Report) detail(d *Data, compared []*systems.System) {
	rows, left := detailed(d, compared)
	if len(rows) == 0 {
		return
	}
	s := &section{ID: "detail", Title: "Detail by load"}
	if left > 0 {
		s.Text = []string{fmt.Sprintf("%d further loads have records, whose details would make the page too large: benchreport shows them for the records of one system.", left)}
	}
	labels := systems.Labels(rows)
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = i
		if labels[i] == "" {
			labels[i] = rows[i].Base
		}
		if rows[i].Failed != "" {
			labels[i] += " (failed)"
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return results.Natural(labels[a], labels[b]) })
	folds := make([]*fold, len(rows))
	var wg sync.WaitGroup
	for at, i := range order {
		row, label := rows[i], labels[i]
		f := &fold{Title: label}
		folds[at] = f
		tools := make(chan *toolsTable, 1)
		wg.Go(func() { tools <- toolsOf(label, row) }) // this takes as long as all pictures together
		if row.Failed != "" {
			f.Pictures = append(f.Pictures, pictures.Distributions(pictures.Slug("distributions", label), label+": distributions", []*results.Row{row}))
		}
		f.Pictures = append(f.Pictures, pictures.Timeline(pictures.Slug("timeline", label), label+": over time", row), pictures.Lanes(pictures.Slug("lanes", label), label+": requests", row))
		f.Pictures = present(f.Pictures)
		for _, p := range f.Pictures {
			p.Caption += doubtOf(row)
		}
		f.Tools = []*toolsTable{<-tools}
	}
	wg.Wait()
	s.Folds = append(folds, &fold{Title: "Why tools differ", Tools: []*toolsTable{differences()}})
	r.Sections = append(r.Sections, s)
}
