package report

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Data is the input of a report.
type Data = results.Data

// A Source is an input file. It says what was read from the file, or why nothing was read.
type Source = results.Source

// A Picture is a chart, and a table with the same values.
type Picture = pictures.Picture

// A Table is rows of cells.
type Table = pictures.Table

// Read reads benchmark files, result files of other tools that package resultfile knows, and files of records.
// A path is a file, a pattern of [path/filepath.Match] or a folder; what a file is shows in its contents. The files
// of another tool in one folder, or of one pattern, are samples. Files in folders that are none of these are listed in Sources
// as not read. It is an error if a file cannot be read completely, or if there is nothing to report.
func Read(paths ...string) (*Data, error) { return results.Read(paths...) }

// A Report holds an answer, pictures and tables. HTML writes it as a page. Its first screen has the
// title, the facts, the answer, the headline and the warnings.
type Report struct {
	Title    string
	Facts    [][2]string // what was measured: names and values
	Answer   []string    // paragraphs; the first is the most important
	Lead     *Figures    // the values that the answer is about, or nil
	Topics   []*Figures  // what the benchmarks of one server tell, by what they are about
	Headline *Picture    // the picture that shows the answer, or nil
	Warnings []string    // what logs and records say against values
	Notes    []string    // what else logs and records say
	Sections []*Section  // the rest of the page, in the order of the page

	Pictures []*Picture // all pictures of the page
	Figures  []*Figures // all results of each group, with the digits that the files have
	Tools    []*Tools
	Runs     Table // the runs that the records describe
	Config   Table // the configuration of the benchmarks of each file
	Sources  []Source
	Command  string // the command line that made the report, or ""

	brief Table // for texts
}

// A Section is a part of the page with its pictures.
type Section struct {
	ID, Title string
	Text      []string // paragraphs
	Pictures  []*Picture
	Folds     []*Fold
}

// A Fold is a part of a section that a reader must open.
type Fold struct {
	Title    string
	Chosen   bool     // the reader chooses folds by the rows of the table of leaders, in the same order
	Text     []string // paragraphs
	Pictures []*Picture
	Tools    []*Tools
}

// Figures is a table with a title and a caption.
type Figures struct {
	ID, Title string
	Caption   string
	Table     Table
}

// Options say how a report is made. The zero value is useful.
type Options struct {
	Title   string   // the title of the page
	Parts   []string // the keys of names that separate pictures; nil means DefaultParts
	Command string   // the command line that makes the report, which the report shows
	// If Verdict is not nil, the report shows it.
	Verdict *gate.Report
	// SLO holds the limits by which systems are ranked. The records tell which requests keep them,
	// so benchmarks without records are left out. Zero means the limits of the benchmarks.
	SLO sample.SLO
}

// DefaultParts holds the keys of names that separate pictures, unless Options.Parts names others.
var DefaultParts = systems.DefaultParts

// New returns a report about d.
func New(d *Data, o Options) (*Report, error) {
	if o.Parts == nil {
		o.Parts = DefaultParts
	}
	r := &Report{Title: o.Title, Command: o.Command, Sources: d.Sources}
	if r.Title == "" {
		r.Title = "Benchmark report"
	}
	groups := systems.Groups(d.Rows, o.Parts)
	limits := map[*systems.Group]systems.SLO{}
	for _, g := range groups {
		limits[g] = systems.SLOOf(g.Rows)
		if o.SLO != (sample.SLO{}) {
			limits[g] = systems.SLO{Limits: o.SLO, Share: systems.DefaultShare, Given: true}
		}
	}
	slo := func(g *systems.Group) systems.SLO { return limits[g] }
	a := answer.Of(d, groups, o.Verdict, slo)
	if without := len(slices.DeleteFunc(slices.Clone(d.Rows), func(r *results.Row) bool { return len(r.Runs) > 0 })); o.SLO != (sample.SLO{}) && without > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d benchmarks have no records, so that nobody can tell whether their requests keep %v.", without, len(d.Rows), o.SLO))
	}
	if n := len(slices.DeleteFunc(slices.Clone(d.Rows), func(r *results.Row) bool { return !r.SpedUp() })); n > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d benchmarks are of a simulated server whose time runs faster (LLMBENCH_MOCK_SPEED), so that no SLO is judged of them.", n, len(d.Rows)))
	}
	r.Answer, r.Warnings, r.Notes = a.Sentences, a.Warnings, a.Notes
	for _, f := range a.Measured {
		r.Facts = append(r.Facts, [2]string{f.Key, f.Value})
	}
	r.Headline = headline(a, o.Verdict, slo)
	r.lead(a, groups)
	if a.Kind == answer.Many {
		r.groups(a, slo)
		r.section("lengths", "Lengths of answers", pictures.Lengths(d.Rows))
	} else {
		r.section("load", "Over load", overLoad(groups, slo))
		r.section("comparison", "Comparison", append(compared(groups, slo), pictures.Lengths(d.Rows)...))
		r.distributions(groups)
	}
	r.section("errors", "Failures, and the client's own error", errorsOf(d))
	r.detail(d)
	for _, g := range groups {
		r.Figures = append(r.Figures, &Figures{ID: pictures.Slug("figures", g.Title), Title: g.Title, Table: pictures.Figures(g.Rows)})
	}
	r.provenance(d)
	r.unique()
	return r, nil
}

// headline returns the picture that shows the answer, or nil.
func headline(a *answer.Answer, verdict *gate.Report, slo func(*systems.Group) systems.SLO) *Picture {
	if verdict != nil {
		return pictures.Verdict(verdict)
	}
	if a.About == nil {
		return nil
	}
	if a.Kind == answer.Comparison {
		if p := pictures.Frontier(a.About, slo(a.About)); p != nil && a.Compared[0].Load != "" {
			return p
		}
		if p := pictures.Standing(a.About, a.Compared, a.By); p != nil {
			return p
		}
	}
	if p := pictures.Headline(a.About); p != nil {
		return p
	}
	return pictures.Distributions(pictures.Slug("answer", a.About.Title), a.About.Title, a.About.Rows)
}

// section adds a section of pictures without the headline, unless it would be empty.
func (r *Report) section(id, title string, all []*Picture) {
	all = slices.DeleteFunc(all, func(p *Picture) bool { return r.Headline != nil && p.ID == r.Headline.ID })
	if len(all) > 0 {
		r.Sections = append(r.Sections, &Section{ID: id, Title: title, Pictures: all})
	}
}

// overLoad returns the pictures over the load.
func overLoad(groups []*systems.Group, slo func(*systems.Group) systems.SLO) []*Picture {
	var all []*Picture
	for _, g := range groups {
		all = append(all, pictures.Sweep(g), pictures.Multiples(g), pictures.Frontier(g, slo(g)))
	}
	return present(all)
}

// compared returns the pictures that compare systems.
func compared(groups []*systems.Group, slo func(*systems.Group) systems.SLO) []*Picture {
	var all []*Picture
	for _, g := range groups {
		all = append(all, pictures.Ranking(g, slo(g)), pictures.Versus(g))
	}
	return present(all)
}

// distributions adds the section of distributions, without the headline.
func (r *Report) distributions(groups []*systems.Group) {
	var all []*Picture
	var folds []*Fold
	for _, g := range groups {
		shown, more := distributionsOf(g)
		all, folds = append(all, shown...), append(folds, more...)
	}
	// The headline may be one of these pictures.
	all = slices.DeleteFunc(all, func(p *Picture) bool {
		return r.Headline != nil && p.Caption == r.Headline.Caption && p.Title == r.Headline.Title
	})
	if len(all)+len(folds) > 0 {
		r.Sections = append(r.Sections, &Section{ID: "distributions", Title: "Distributions", Pictures: all, Folds: folds})
	}
}

// distributionsOf returns the distributions of a group. There are three parts: systems over each other
// at each load; the loads of each system over each other, which are folded if systems are compared; and
// the single loads of the group.
func distributionsOf(g *systems.Group) (all []*Picture, folds []*Fold) {
	compared := pictures.Overlaid(g)
	all = append(all, compared...)
	var single []*results.Row
	for _, s := range g.Systems {
		title := g.Title
		if s.Name != "" && len(g.Systems) > 1 {
			title += ", " + s.Name
		}
		if len(s.Rows) == 1 {
			single = append(single, s.Rows...)
			continue
		}
		switch p := pictures.Distributions(pictures.Slug("distributions", title), title, s.Rows); {
		case p == nil:
		case len(compared) > 0:
			folds = append(folds, &Fold{Title: title + ": all loads", Pictures: []*Picture{p}})
		default:
			all = append(all, p)
		}
	}
	all = append(all, pictures.Distributions(pictures.Slug("distributions", g.Title), g.Title, single))
	return present(all), folds
}

// errorsOf returns the pictures of what went wrong.
func errorsOf(d *Data) []*Picture {
	return present([]*Picture{pictures.Failures(slices.Concat(d.Rows, d.Broken)), pictures.Budget(d.Rows)})
}

func present(all []*Picture) []*Picture {
	return slices.DeleteFunc(all, func(p *Picture) bool { return p == nil })
}

// detail adds a section with a fold for each benchmark that has records. A fold shows the time
// line, some of the requests, and what tools would have printed.
func (r *Report) detail(d *Data) {
	rows := slices.DeleteFunc(slices.Concat(d.Rows, d.Broken), func(r *results.Row) bool { return len(r.Runs) == 0 })
	if len(rows) == 0 {
		return
	}
	s := &Section{ID: "detail", Title: "Detail by load"}
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
	folds := make([]*Fold, len(rows))
	var wg sync.WaitGroup
	for at, i := range order {
		row, label := rows[i], labels[i]
		f := &Fold{Title: label}
		folds[at] = f
		tools := make(chan *Tools, 1)
		wg.Go(func() { tools <- toolsOf(label, row) }) // this takes as long as all pictures together
		if row.Failed != "" {
			f.Pictures = append(f.Pictures, pictures.Distributions(pictures.Slug("distributions", label), label+": distributions", []*results.Row{row}))
		}
		f.Pictures = append(f.Pictures, pictures.Timeline(pictures.Slug("timeline", label), label+": over time", row), pictures.Lanes(pictures.Slug("lanes", label), label+": requests", row))
		f.Pictures = present(f.Pictures)
		for _, p := range f.Pictures {
			p.Caption += doubtOf(row)
		}
		f.Tools = []*Tools{<-tools}
	}
	wg.Wait()
	s.Folds = append(folds, &Fold{Title: "Why tools differ", Tools: []*Tools{differences()}})
	r.Sections = append(r.Sections, s)
}

// doubtOf returns a sentence that says why values of a row cannot be used, or "".
func doubtOf(row *results.Row) string {
	if row.Failed != "" {
		return " The benchmark has no result: " + results.FirstLine(row.Failed) + "."
	}
	if why := row.Doubt(); why != "" {
		return " In doubt: " + why + "."
	}
	return ""
}
