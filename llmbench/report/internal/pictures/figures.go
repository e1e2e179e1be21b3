package pictures

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// Figures returns a table with all units of the rows.
func Figures(rows []*results.Row) (t Table) {
	var units []string
	for _, r := range rows {
		for _, u := range r.Units {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	scales := map[string]human.Scale{}
	t.Head = []string{"benchmark"}
	for _, u := range units {
		largest := 0.0
		for _, r := range rows {
			for _, v := range r.Values[u] {
				largest = max(largest, v)
			}
		}
		scales[u] = human.ScaleOf(u, largest)
		t.Head = append(t.Head, headed(columns.Name(u), scales[u]))
	}
	t.Units = append([]string{""}, units...)
	t.Head = append(t.Head, "name", "file")
	for i, label := range systems.Labels(rows) {
		r := rows[i]
		cells := []Cell{{Text: cmp.Or(label, r.Base), Doubt: r.Doubt()}}
		for _, u := range units {
			cells = append(cells, Figure(r, scales[u], u))
		}
		where := r.File
		if r.Line > 0 {
			where = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
		t.Add(append(cells, Texts(r.Name, where)...)...)
	}
	return t
}
