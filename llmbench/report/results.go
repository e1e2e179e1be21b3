package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// A Row is the results of one benchmark with one configuration in one file: for each unit,
// a value for every sample.
type Row struct {
	File   string
	Line   int    // of the first sample; 0 if the row was made from records
	Name   string // without "Benchmark"
	Base   string // as benchfile.Name has it
	Keys   []benchfile.Setting
	Config []benchfile.Setting
	Units  []string // in the order of the file
	Values map[string][]float64
}

// largest is the largest value that can be drawn: sums and multiples of it are finite.
const largest = 1e100

// readResults reads a file in Go benchmark format. Results of one benchmark with one
// configuration are one row.
func readResults(r io.Reader, name string) ([]*Row, error) {
	results, err := benchfile.Read(r, name)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s: no results: want a file in Go benchmark format", name)
	}
	var rows []*Row
	byID := map[string]*Row{}
	for _, res := range results {
		id := fmt.Sprintf("%q%q", res.Name.Full, identity(res.Config))
		row := byID[id]
		if row == nil {
			row = newRow(res.Name)
			row.File, row.Line, row.Config = name, res.Line, res.Config
			byID[id] = row
			rows = append(rows, row)
		}
		for _, v := range res.Values {
			if math.Abs(v.Value) > largest {
				return nil, fmt.Errorf("%s:%d: %s is %v: want at most %v to draw it", name, res.Line, v.Unit, v.Value, largest)
			}
			row.add(v.Unit, v.Value)
		}
	}
	return rows, nil
}

// newRow returns a row without values. GOMAXPROCS is a key of it.
func newRow(name benchfile.Name) *Row {
	row := &Row{Name: name.Full, Base: name.Base, Keys: name.Keys, Values: map[string][]float64{}}
	if name.Procs != "" {
		row.Keys = append(row.Keys, benchfile.Setting{Key: "gomaxprocs", Value: name.Procs})
	}
	return row
}

func (r *Row) add(unit string, v float64) {
	if r.Values[unit] == nil {
		r.Units = append(r.Units, unit)
	}
	r.Values[unit] = append(r.Values[unit], v)
}

// identity returns the configuration that distinguishes systems, without versions and times.
func identity(config []benchfile.Setting) []benchfile.Setting {
	return slices.DeleteFunc(slices.Clone(config), func(s benchfile.Setting) bool { return slices.Contains(gate.Ignored(), s.Key) || s.Key == "pkg" })
}

// key returns the value of a key of the name, or "".
func (r *Row) key(name string) string { return benchfile.Lookup(r.Keys, name) }

// loads are the keys that are a load. If a name has several, the first of this list counts.
var loads = []string{"concurrency", "rate", "streams", "qps"}

// load returns the key of the row's load, and its value.
func (r *Row) load() (key string, v float64, ok bool) {
	for _, key := range loads {
		if v, err := strconv.ParseFloat(r.key(key), 64); err == nil && v > 0 && !math.IsInf(v, 0) {
			return key, v, true
		}
	}
	return "", 0, false
}

// A spread is the median, the minimum and the maximum of samples.
type spread struct {
	mid, lo, hi float64
	n           int
}

// spread returns the spread of the first of units that the row has.
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

// exactly spells a value with the fewest digits that read back as the same value.
func exactly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// cell returns the text of a unit in a table: the value, or the median and the range of
// several samples.
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
