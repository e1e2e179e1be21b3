package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// A Report has pictures and tables. HTML writes it as a page, whose first screen is the title,
// the facts, the answer, the headline and the warnings.
type Report struct {
	Title    string
	Facts    [][2]string // what was measured: names and values
	Answer   []string    // sentences; the first is the most important
	Headline *Picture    // the picture that shows the answer, or nil
	Warnings []string
	Sections []*Section // the rest of the page, in its order

	Pictures []*Picture // all pictures of the page
	Figures  []*Figures
	Tools    []*Tools
	Runs     Table // of the records
	Config   Table // configuration of the benchmarks of each file
	Sources  []Source
	Command  string // command line that made the report, or ""
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
	Pictures []*Picture
	Tools    []*Tools
}

// Figures are all results of a group, with the digits of their files.
type Figures struct {
	ID, Title string
	Table     Table
}

// Options say how a report is made. The zero value has useful defaults.
type Options struct {
	Title   string   // of the page
	Parts   []string // keys of names that separate pictures; nil means DefaultParts
	Command string   // command line that makes the report, to be shown in it
	// Verdict is drawn if it is not nil.
	Verdict *gate.Report
}

// New returns the report of d.
func New(d *Data, o Options) (*Report, error) {
	if o.Parts == nil {
		o.Parts = DefaultParts
	}
	r := &Report{Title: o.Title, Command: o.Command, Sources: d.Sources}
	if r.Title == "" {
		r.Title = "Benchmark report"
	}
	add := func(p *Picture, err error) error {
		if err == nil && p != nil {
			r.Pictures = append(r.Pictures, p)
		}
		return err
	}
	if o.Verdict != nil {
		if err := add(verdict(o.Verdict)); err != nil {
			return nil, err
		}
	}
	all := groups(d.Rows, o.Parts)
	for _, g := range all {
		for _, of := range []func() (*Picture, error){g.sweep, g.versus, g.frontier} {
			if err := add(of()); err != nil {
				return nil, fmt.Errorf("%s: %w", g.title, err)
			}
		}
	}
	grids, err := lengths(d.Rows)
	if err != nil {
		return nil, err
	}
	r.Pictures = append(r.Pictures, grids...)
	runs := samplesOf(d.Runs)
	for _, s := range runs {
		tools := make(chan *Tools, 1)
		go func() { tools <- s.tools() }() // takes as long as all pictures
		for _, of := range []func() (*Picture, error){s.cdf, s.timeline, s.lanes} {
			p, err := of()
			if p != nil {
				p.Caption += s.doubt()
			}
			if err := add(p, err); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		r.Tools = append(r.Tools, <-tools)
	}
	if err := add(failures(runs)); err != nil {
		return nil, err
	}
	if err := add(budget(d.Rows)); err != nil {
		return nil, err
	}
	for _, g := range all {
		r.Figures = append(r.Figures, g.figures())
	}
	r.provenance(d)
	r.unique()
	r.arrange()
	return r, nil
}

// figures returns the table of all units of all rows.
func (g *group) figures() *Figures {
	f := &Figures{ID: slug("figures", g.title), Title: g.title}
	var units []string
	for _, r := range g.rows {
		for _, u := range r.Units {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	f.Table.Head = append([]string{"benchmark", "file"}, units...)
	for _, r := range g.rows {
		where := r.File
		if r.Line > 0 {
			where = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
		cells := []string{r.Name, where}
		for _, u := range units {
			cells = append(cells, r.cell(u))
		}
		f.Table.add(cells...)
	}
	return f
}

// provenance fills the tables of files, configurations and runs.
func (r *Report) provenance(d *Data) {
	r.Config.Head = []string{"file", "key", "value", "benchmarks"}
	type entry struct {
		file string
		benchfile.Setting
	}
	var order []entry
	count := map[entry]int{}
	total := map[string]int{}
	for _, row := range d.Rows {
		total[row.File]++
		for _, s := range row.Config {
			e := entry{row.File, s}
			if count[e] == 0 {
				order = append(order, e)
			}
			count[e]++
		}
	}
	for _, e := range order {
		r.Config.add(e.file, e.Key, e.Value, fmt.Sprintf("%d of %d", count[e], total[e.file]))
	}
	r.Runs.Head = []string{"records", "benchmark", "start", "dialect", "model", "load", "warm-up", "SLO", "requests", "failed", "ended", "passes", "connections opened", "sent again", "host"}
	for _, run := range d.Runs {
		h := run.Head
		opened, again, failed := 0, 0, 0
		for q := range run.All() {
			if q.Connect > 0 {
				opened++
			}
			if q.Resent > 0 {
				again++
			}
			if q.Failed() {
				failed++
			}
		}
		load := fmt.Sprintf("closed loop, %d at once", h.Concurrency)
		if h.Concurrency == 0 {
			load = "open loop"
			if h.Arrivals != nil {
				load += ", " + h.Arrivals.String()
			}
		}
		if !h.Stream {
			load += ", not streamed"
		}
		ended := "unknown"
		switch why := run.Failed(); {
		case why != "":
			ended = why
		case run.End != nil:
			ended = strings.Join(append([]string{"ok"}, run.Withheld()...), ", withheld ")
		}
		r.Runs.add(run.Name, h.Benchmark, h.Start.UTC().Format("2006-01-02 15:04:05 UTC"), h.Dialect, h.Model, load, fmt.Sprint(h.Warmup), h.SLO,
			fmt.Sprint(run.Len()), fmt.Sprint(failed), ended, fmt.Sprint(run.Passes()), fmt.Sprint(opened), fmt.Sprint(again),
			fmt.Sprintf("%s/%s, %d CPUs, GOMAXPROCS %d, %s", h.Host.OS, h.Host.Arch, h.Host.CPUs, h.Host.GOMAXPROCS, h.Host.Go))
	}
}

// unique makes the IDs of pictures unique, and short enough for file names.
func (r *Report) unique() {
	seen := map[string]int{}
	fix := func(id *string) {
		if len(*id) > 120 {
			*id = strings.TrimRight((*id)[:120], "-")
		}
		if *id == "" {
			*id = "x"
		}
		if seen[*id]++; seen[*id] > 1 {
			*id = fmt.Sprintf("%s_%d", *id, seen[*id])
		}
	}
	for _, p := range r.Pictures {
		fix(&p.ID)
	}
	for _, f := range r.Figures {
		fix(&f.ID)
	}
	for _, t := range r.Tools {
		fix(&t.ID)
	}
}

// arrange puts the pictures into sections.
func (r *Report) arrange() {
	results := &Section{ID: "results", Title: "Results"}
	detail := &Section{ID: "detail", Title: "Detail by load"}
	folds := map[string]*Fold{}
	fold := func(title string) *Fold {
		if folds[title] == nil {
			folds[title] = &Fold{Title: title}
			detail.Folds = append(detail.Folds, folds[title])
		}
		return folds[title]
	}
	for _, p := range r.Pictures {
		kind, _, _ := strings.Cut(p.ID, "-")
		if kind == "cdf" || kind == "timeline" || kind == "lanes" {
			title, _, _ := strings.Cut(p.Title, ": ")
			f := fold(title)
			f.Pictures = append(f.Pictures, p)
			continue
		}
		results.Pictures = append(results.Pictures, p)
	}
	for _, t := range r.Tools {
		title, _, _ := strings.Cut(t.Title, ": ")
		f := fold(title)
		f.Tools = append(f.Tools, t)
	}
	for _, s := range []*Section{results, detail} {
		if len(s.Pictures)+len(s.Folds) > 0 {
			r.Sections = append(r.Sections, s)
		}
	}
}

// Names returns the names of the files of pictures: each as SVG and as PNG.
func (p *Picture) Names() (svg, png string) {
	name := filepath.Base(p.ID)
	return name + ".svg", name + ".png"
}
