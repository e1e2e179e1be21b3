package report

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/answer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/pictures"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// lead sets the table of the first screen, and the table for texts.
func (r *Report) lead(a *answer.Answer, groups []*systems.Group) {
	table := func(id, title string, t pictures.Table, caption string) {
		r.Lead = &block{ID: id, Title: title, Table: t, Caption: caption}
	}
	switch n := len(a.Compared); {
	case a.Kind == answer.Catalogue:
		for _, t := range pictures.Topics(groups) {
			r.Topics = append(r.Topics, &block{ID: pictures.Slug("topic", t.Title), Title: t.Title, Table: t.Table.Trimmed()})
			r.brief.Head, r.brief.Rows = t.Table.Head, append(r.brief.Rows, t.Table.Rows...)
		}
		return
	case a.Kind == answer.Many:
		t := pictures.Leaders(a.Groups)
		table("leaders", "The fastest", t.Trimmed(), "The fastest system of each group and the next one, at the load with the greatest throughput of the fastest, or at the highest rate of arrivals. Groups in which nothing can be compared come last.")
	case n == 2:
		t, caption := pictures.Pair(a.About, a.Compared[0], a.Compared[1], a.By, !a.Adds)
		table("lead", a.About.Title, t, caption)
	case n > 2:
		table("lead", a.About.Title, pictures.Ranks(a.About, a.Compared[0].Load, a.By), "")
	case a.Kind == answer.Load:
		_, all, _ := a.About.Swept()
		table("lead", a.About.Title, pictures.Loads(all[0]), "")
	}
	switch {
	case r.Lead != nil && len(r.Lead.Table.Rows) == 0:
		r.Lead = nil
	case r.Lead != nil:
		r.brief = r.Lead.Table
	case r.Headline != nil:
		r.brief = r.Headline.Table
	}
}

// groups adds a section with a fold for each of many groups.
func (r *Report) groups(a *answer.Answer, slo func(*systems.Group) systems.SLO) {
	s := &section{ID: "groups", Title: "Models and workloads"}
	for _, told := range a.Groups {
		one := []*systems.Group{told.Group}
		f := &fold{Title: told.Group.Title, Chosen: true, Text: told.Says}
		f.Pictures = append(overLoad(one, slo), compared(one, slo)...)
		shown, folds := distributionsOf(told.Group, told.Compared)
		f.Pictures = append(f.Pictures, shown...)
		for _, of := range folds {
			f.Pictures = append(f.Pictures, of.Pictures...)
		}
		s.Folds = append(s.Folds, f)
	}
	r.Sections = append(r.Sections, s)
}
