package report

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// section adds a section of pictures without the headline, unless it would be empty.
func (r *Report) section(id, title string, all []*pictures.Picture) {
	all = slices.DeleteFunc(all, func(p *pictures.Picture) bool { return r.Headline != nil && p.ID == r.Headline.ID })
	if len(all) > 0 {
		r.Sections = append(r.Sections, &section{ID: id, Title: title, Pictures: all})
	}
}

// folded adds a section with a fold of pictures for each group that has some.
func (r *Report) folded(id, title string, groups []*systems.Group, of func(one []*systems.Group) []*pictures.Picture) {
	s := &section{ID: id, Title: title}
	for _, g := range groups {
		if all := of([]*systems.Group{g}); len(all) > 0 {
			s.Folds = append(s.Folds, &fold{Title: g.Title, Pictures: all})
		}
	}
	if len(s.Folds) > 0 {
		r.Sections = append(r.Sections, s)
	}
}

// overLoad returns the pictures over the load.
func overLoad(groups []*systems.Group, slo func(*systems.Group) systems.SLO) []*pictures.Picture {
	var all []*pictures.Picture
	for _, g := range groups {
		all = append(all, pictures.Carried(g), pictures.Sweep(g), pictures.Multiples(g), pictures.Frontier(g, slo(g)), pictures.Prices(g, slo(g)))
	}
	return present(all)
}

// compared returns the pictures that compare systems.
func compared(groups []*systems.Group, slo func(*systems.Group) systems.SLO) []*pictures.Picture {
	var all []*pictures.Picture
	for _, g := range groups {
		all = append(all, pictures.Ranking(g, slo(g)), pictures.Versus(g))
	}
	return present(all)
}

// maxDrawn is the largest number of systems whose distributions are all on the page. Of more systems, only
// the best ones have distributions there.
const (
	maxDrawn  = 8
	bestDrawn = 4
)

// distributions adds the section of distributions, without the headline.
func (r *Report) distributions(groups []*systems.Group, named []*systems.System) {
	var all []*pictures.Picture
	var folds []*fold
	for _, g := range groups {
		shown, more := distributionsOf(g, named)
		all, folds = append(all, shown...), append(folds, more...)
	}
	// The headline may be one of these pictures.
	all = slices.DeleteFunc(all, func(p *pictures.Picture) bool {
		return r.Headline != nil && p.Caption == r.Headline.Caption && p.Title == r.Headline.Title
	})
	if len(all)+len(folds) > 0 {
		r.Sections = append(r.Sections, &section{ID: "distributions", Title: "Distributions", Pictures: all, Folds: folds})
	}
}

// distributionsOf returns the distributions of a group. There are three parts: systems over each other
// at each load; the loads of each system over each other, which are folded if systems are compared; and
// the single loads of the group. Of many systems only the first named ones are shown.
func distributionsOf(g *systems.Group, named []*systems.System) (all []*pictures.Picture, folds []*fold) {
	if named = named[:min(len(named), bestDrawn)]; len(g.Systems) <= maxDrawn {
		named = nil
	}
	compared := pictures.Overlaid(g, named)
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
		if named != nil && !slices.Contains(named, s) {
			continue
		}
		switch p := pictures.Distributions(pictures.Slug("distributions", title), title, s.Rows); {
		case p == nil:
		case len(compared) > 0:
			folds = append(folds, &fold{Title: title + ": all loads", Pictures: []*pictures.Picture{p}})
		default:
			all = append(all, p)
		}
	}
	all = append(all, pictures.Distributions(pictures.Slug("distributions", g.Title), g.Title, single))
	return present(all), folds
}

// errorsOf returns the pictures of what went wrong.
func errorsOf(d *Data) []*pictures.Picture {
	return present([]*pictures.Picture{pictures.Failures(slices.Concat(d.Rows, d.Broken)), pictures.Budget(d.Rows)})
}

func present(all []*pictures.Picture) []*pictures.Picture {
	return slices.DeleteFunc(all, func(p *pictures.Picture) bool { return p == nil })
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
