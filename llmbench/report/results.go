package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// A Row is the results of one benchmark in one file: a value of each unit for every
// sample.
type Row struct {
	File   string
	Line   int    // of the first sample; 0: made of records
	Name   string // without "Benchmark"
	Base   string // its first part
	Keys   []Setting
	Config []Setting
	Units  []string // in the order of the file
	Values map[string][]float64
}

// A Setting is a key with its value: of a name, or of a configuration line.
type Setting struct{ Key, Value string }

// largest is the largest value that is drawn: sums and scales of it are finite too.
const largest = 1e100

// readResults reads a file in Go benchmark format.
func readResults(r io.Reader, name string) ([]*Row, error) {
	var rows []*Row
	byID := map[string]*Row{}
	files := benchfmt.NewReader(r, name)
	for files.Scan() {
		var res *benchfmt.Result
		switch rec := files.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			res = rec
		default:
			continue
		}
		_, line := res.Pos()
		row := newRow(string(res.Name.Full()))
		row.File, row.Line = name, line
		for _, c := range res.Config {
			if c.File {
				row.Config = append(row.Config, Setting{c.Key, string(c.Value)})
			}
		}
		id := fmt.Sprintf("%q%q", row.Name, identity(row.Config))
		if old := byID[id]; old != nil {
			row = old
		} else {
			byID[id] = row
			rows = append(rows, row)
		}
		seen := map[string]bool{}
		for _, v := range res.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" {
				unit, value = v.OrigUnit, v.OrigValue
			}
			switch {
			case math.IsNaN(value) || math.IsInf(value, 0):
				return nil, fmt.Errorf("%s:%d: %s is %v: want a finite number", name, line, unit, value)
			case math.Abs(value) > largest:
				return nil, fmt.Errorf("%s:%d: %s is %v: want at most %v to draw it", name, line, unit, value, largest)
			case seen[unit]:
				return nil, fmt.Errorf("%s:%d: %s twice in one result", name, line, unit)
			}
			seen[unit] = true
			row.add(unit, value)
		}
	}
	if err := files.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no results: want a file in Go benchmark format", name)
	}
	return rows, nil
}

// newRow takes a name apart, with -GOMAXPROCS as a key of its own.
func newRow(full string) *Row {
	row := &Row{Name: full, Values: map[string][]float64{}}
	base, parts := benchfmt.Name(full).Parts()
	row.Base = string(base)
	for _, p := range parts {
		switch k, v, has := strings.Cut(strings.TrimPrefix(string(p), "/"), "="); {
		case p[0] == '-':
			row.Keys = append(row.Keys, Setting{"gomaxprocs", string(p[1:])})
		case has:
			row.Keys = append(row.Keys, Setting{k, v})
		default:
			row.Base += string(p)
		}
	}
	return row
}

func (r *Row) add(unit string, v float64) {
	if r.Values[unit] == nil {
		r.Units = append(r.Units, unit)
	}
	r.Values[unit] = append(r.Values[unit], v)
}

// identity is the configuration that tells systems apart: not which version it was,
// nor when.
func identity(config []Setting) []Setting {
	return slices.DeleteFunc(slices.Clone(config), func(s Setting) bool { return slices.Contains(gate.Ignored(), s.Key) || s.Key == "pkg" })
}

// key is the value of a key of the name, or "".
func (r *Row) key(name string) string { return lookup(r.Keys, name) }

func lookup(all []Setting, key string) string {
	for _, s := range all {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// loads are the keys of names that a sweep goes over, the first that a name has.
var loads = []string{"concurrency", "rate", "streams", "qps"}

// load is the key that a sweep goes over, and its value.
func (r *Row) load() (key string, v float64, ok bool) {
	for _, key := range loads {
		if v, err := strconv.ParseFloat(r.key(key), 64); err == nil && v > 0 && !math.IsInf(v, 0) {
			return key, v, true
		}
	}
	return "", 0, false
}

// A spread is the median of samples, and the least and the most of them.
type spread struct {
	mid, lo, hi float64
	n           int
}

// spread is that of a unit, or of the first of several that the row has.
func (r *Row) spread(units ...string) (spread, bool) {
	for _, u := range units {
		if v := r.Values[u]; len(v) > 0 {
			return spreadOf(v), true
		}
	}
	return spread{}, false
}

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{mid: (v[(n-1)/2] + v[n/2]) / 2, lo: v[0], hi: v[n-1], n: n}
}

// exactly prints a value so that reading it again gives the same: all its digits,
// and no more.
func exactly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// cell is a unit of a row in a table: its value, or of several samples the median
// and their range.
func (r *Row) cell(unit string) string {
	v := r.Values[unit]
	switch len(v) {
	case 0:
		return ""
	case 1:
		return exactly(v[0])
	}
	s := spreadOf(v)
	return fmt.Sprintf("%s [%s, %s] n=%d", exactly(s.mid), exactly(s.lo), exactly(s.hi), s.n)
}
