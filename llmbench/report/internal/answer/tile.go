package answer

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// A Tile is one figure of the answer, which the page shows large. Figures in doubt are never in a tile.
type Tile struct {
	Label  string
	Values []Value // one, or one of each system
	Detail string  // where the values are from, and how sure they are
}

// A Value is what a tile says, or says of one system.
type Value struct {
	Text   string
	Name   string // of the system, or "" if there is only one
	System int    // the place of the system among the looks of pictures, counted from 0; -1 if there is none
	Best   bool   // the best one of several
}

func tile(label, text, detail string) Tile {
	return Tile{label, []Value{{Text: text, System: -1}}, detail}
}

// withheld is the text of a value that is in doubt, or was not measured because it would be.
const withheld = "withheld"

// sound returns the median of the first of the units that a row has. It is not known if the row has none, or if it is in
// doubt.
func sound(r *results.Row, units ...string) (v float64, unit string, known bool) {
	s, unit := r.Spread(units...)
	return s.Mid, unit, unit != "" && r.Doubt(unit) == ""
}

// said returns the text of a figure, or that it is withheld. It returns "" if it was not measured.
func said(r *results.Row, units ...string) string {
	v, unit, known := sound(r, units...)
	switch {
	case known:
		return human.Text(unit, v)
	case unit != "" || r.Withholds(units[0]):
		return withheld
	}
	return ""
}

func value(r *results.Row) float64 {
	_, v := r.Load()
	return v
}
