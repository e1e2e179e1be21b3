package files

import (
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
)

// explain adds to a report what is known about the files of other tools: the key and unit of each value, the
// file and line of each problem, and notes. There is one side with -col; otherwise they are old and new.
func explain(r *gate.Report, sides []*resultfile.Side, texts []*resultfile.Text) {
	type figure struct{ name, unit string }
	of := map[figure]*gate.Source{}
	for i, s := range sides {
		r.Notes = append(r.Notes, s.AllNotes()...)
		for _, f := range s.Files {
			for _, res := range f.Results {
				for _, v := range res.Values {
					source := gate.Source(v.Source)
					of[figure{res.Name, v.Unit}] = &source
				}
			}
		}
		for j := range r.Problems {
			if p := &r.Problems[j]; p.File == s.Path && p.Line > 0 && !slices.ContainsFunc(sides[:i], func(e *resultfile.Side) bool { return e.Path == s.Path }) {
				p.File, p.Line = texts[i].Position(p.Line)
			}
		}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Source = of[figure{row.Name, row.Unit}]
	}
	if len(sides) == 2 {
		r.Notes = append(r.Notes, resultfile.Stale(sides[0], sides[1])...)
	}
}
