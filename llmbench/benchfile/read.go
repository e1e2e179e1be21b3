package benchfile

import (
	"fmt"
	"io"
	"math"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// A Result is one result line with the configuration lines that apply to it.
type Result struct {
	Line   int // line in the file, counted from 1
	Name   Name
	Config []Setting // configuration lines in force, in the order in which their keys first appear
	Values []Value   // in the order of the line
}

// A Value is a value of a result, with its unit as the file spells it. The value is finite.
type Value struct {
	Unit  string
	Value float64
}

// Value returns the result's value in the given unit, and whether the result has one.
func (r *Result) Value(unit string) (float64, bool) {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}

// Read returns the results in r. file is the name to use in errors. A file without results is not an error.
func Read(r io.Reader, file string) ([]Result, error) {
	text, err := benchline.Text(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []Result
	lines, wrong := benchline.Lines(text, file)
	if len(wrong) > 0 {
		return nil, wrong[0] // already names the file and the line
	}
	for lines.Scan() {
		switch rec := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec // already names the file and the line
		case *benchfmt.Result:
			res, err := newResult(rec)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, res.Line, err)
			}
			all = append(all, res)
		}
	}
	return all, lines.Err() // already names the file and the line
}

// newResult copies rec, because the reader reuses its memory.
func newResult(rec *benchfmt.Result) (Result, error) {
	_, line := rec.Pos()
	res := Result{Line: line, Name: ParseName(string(rec.Name.Full()))}
	for _, c := range rec.Config {
		if c.File {
			res.Config = append(res.Config, Setting{c.Key, string(c.Value)})
		}
	}
	for _, v := range rec.Values {
		unit, value := v.Unit, v.Value
		if v.OrigUnit != "" {
			unit, value = v.OrigUnit, v.OrigValue
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return res, fmt.Errorf("%s is %v: want a finite number", unit, value)
		}
		if _, has := res.Value(unit); has {
			return res, fmt.Errorf("%s twice in one result", unit)
		}
		res.Values = append(res.Values, Value{unit, value})
	}
	return res, nil
}
