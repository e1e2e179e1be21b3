package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/resultfile"
)

// inputs holds the sides to compare: one side with -col, otherwise old and new.
type inputs struct {
	sides []*resultfile.Side
	texts []*resultfile.Text
}

// readInputs reads the sides, each of which is a file, a pattern or a folder. It returns an error if a file is
// not a valid sample, or if the two sides have no load in common.
func readInputs(o resultfile.Options, paths []string) (*inputs, error) {
	sides, texts, err := resultfile.ReadSides(paths, o)
	return &inputs{sides, texts}, err
}

// file returns side i as an input of package gate.
func (in *inputs) file(i int) gate.File {
	return gate.File{Name: in.sides[i].Path, Data: bytes.NewReader(in.texts[i].Bytes)}
}

// explain adds to a report what is known about the files of other tools: the key and unit of each value, the
// file and line of each problem, and notes.
func (in *inputs) explain(r *gate.Report) {
	type figure struct{ name, unit string }
	of := map[figure]*gate.Source{}
	for i, s := range in.sides {
		r.Notes = append(r.Notes, s.AllNotes()...)
		for _, f := range s.Files {
			for _, res := range f.Results {
				for _, v := range res.Values {
					of[figure{res.Name, v.Unit}] = &gate.Source{Tool: v.Source.Tool, Key: v.Source.Key, Unit: v.Source.Unit, Factor: v.Source.Factor}
				}
			}
		}
		for j := range r.Problems {
			if p := &r.Problems[j]; p.File == s.Path && p.Line > 0 && !slices.ContainsFunc(in.sides[:i], func(e *resultfile.Side) bool { return e.Path == s.Path }) {
				p.File, p.Line = in.texts[i].Position(p.Line)
			}
		}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Source = of[figure{row.Name, row.Unit}]
	}
	if len(in.sides) == 2 {
		r.Notes = append(r.Notes, resultfile.Stale(in.sides[0], in.sides[1])...)
	}
}

// share returns a parser for a flag that sets v to a share from 0 to 1.
func share(v *float64) func(string) error {
	return func(s string) error {
		if _, err := fmt.Sscan(strings.TrimSpace(s), v); err != nil || !(*v >= 0 && *v <= 1) {
			return fmt.Errorf("want a share from 0 to 1, such as 0.01")
		}
		return nil
	}
}
