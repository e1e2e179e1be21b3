package report

import (
	"encoding/json"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// summaryFormat is the field format of a summary. Its number increases if a field goes away or changes its meaning, and not if
// one is added.
const summaryFormat = "llmbench-summary/1"

// A summary is a report for programs. README.md describes its fields.
type summary struct {
	Format   string       `json:"format"`   // summaryFormat
	Title    string       `json:"title"`    // the title of the report
	Answer   []string     `json:"answer"`   // texts for people; the first is the short sentence of the page, if it has one
	Stated   []string     `json:"stated"`   // what servers said about themselves, and what follows
	Next     []string     `json:"next"`     // what to measure next, or to do
	Warnings []string     `json:"warnings"` // what files, logs and records say against values
	Notes    []string     `json:"notes"`    // what else they say
	Rows     []summaryRow `json:"rows"`     // the benchmarks, those without a result last
}

// A summaryRow is a benchmark with one configuration in one file.
type summaryRow struct {
	File      string            `json:"file"`      // the file or the folder of the results
	Name      string            `json:"name"`      // the whole name without "Benchmark"
	Benchmark string            `json:"benchmark"` // the part before the keys, such as Serve
	Keys      map[string]string `json:"keys"`      // the values of key=value in the name, such as concurrency: 8
	Config    map[string]string `json:"config"`    // configuration lines, such as server-version: 0.30.0
	Failed    string            `json:"failed,omitempty"`
	// Figures has the reported units, which the table of units in UNITS.md defines, by their names.
	Figures map[string]figure `json:"figures"`
}

// A figure has the values of one unit. A sample that withheld the unit has none.
type figure struct {
	Median  float64 `json:"median"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Samples int     `json:"samples"`         // number of values
	Doubt   string  `json:"doubt,omitempty"` // why the values may be wrong
}

// JSON writes the report to w for programs, as README.md of this package describes it.
func (r *Report) JSON(w io.Writer) error {
	said := r.Answer
	if r.Short != "" {
		said = append([]string{r.Short}, said...)
	}
	s := summary{Format: summaryFormat, Title: r.Title, Answer: orEmpty(said), Stated: orEmpty(r.Stated), Next: orEmpty(r.Next), Warnings: orEmpty(r.Warnings), Notes: orEmpty(r.Notes), Rows: []summaryRow{}}
	for _, row := range r.rows {
		one := summaryRow{File: row.File, Name: row.Name, Benchmark: row.Base, Keys: settings(row.Keys), Config: settings(row.Config), Failed: row.Failed, Figures: map[string]figure{}}
		for _, unit := range row.Units {
			if values := row.Values[unit]; len(values) > 0 && row.Failed == "" {
				spread := results.SpreadOf(values)
				one.Figures[unit] = figure{Median: spread.Mid, Min: spread.Low, Max: spread.High, Samples: spread.N, Doubt: row.Doubt(unit)}
			}
		}
		s.Rows = append(s.Rows, one)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// orEmpty returns texts, or an empty list instead of nil, which JSON would write as null.
func orEmpty(texts []string) []string { return append([]string{}, texts...) }

// settings returns settings by their keys, without those that were cleared.
func settings(all []benchfile.Setting) map[string]string {
	m := map[string]string{}
	for _, s := range all {
		if s.Value == "" {
			delete(m, s.Key)
			continue
		}
		m[s.Key] = s.Value
	}
	return m
}
