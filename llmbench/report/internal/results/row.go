package results

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Row is the results of one benchmark with one configuration in one file. For each unit it has
// the value of every sample.
type Row struct {
	File   string
	Line   int    // the line of the first sample; 0 if the row was made from records
	Name   string // the name without "Benchmark"
	Base   string // the part of the name that benchfile.Name calls Base
	Keys   []benchfile.Setting
	Config []benchfile.Setting
	Units  []string // the units, in the order of the file
	// Values has the values of each unit, in the order of the samples. A sample whose value is in doubt has none if
	// another sample has a sound one.
	Values map[string][]float64
	Runs   []*records.Run // the records of the samples, in the order of their files
	Truth  string         // how fast the simulated server is, as a comment of the file says; or ""
	Failed string         // says why the values are not a result; "" if they are one
	Doubts []Doubt

	samples map[string][]int // for each unit, the samples that have the values, counted from 0
	count   int              // the number of samples
}

// newRow returns a row without values. GOMAXPROCS becomes one of its keys.
func newRow(name benchfile.Name) *Row {
	row := &Row{Name: name.Full, Base: name.Base, Keys: name.Keys, Values: map[string][]float64{}, samples: map[string][]int{}}
	if name.Procs != "" {
		row.Keys = append(row.Keys, benchfile.Setting{Key: "gomaxprocs", Value: name.Procs})
	}
	return row
}

// add adds a value of the last sample.
func (r *Row) add(unit string, v float64) {
	if r.Values[unit] == nil {
		r.Units = append(r.Units, unit)
	}
	r.Values[unit], r.samples[unit] = append(r.Values[unit], v), append(r.samples[unit], r.count-1)
}

// Price gives each sample of the row with output tokens the price of a million of them. The argument is the price of an hour.
func (r *Row) Price(hour float64) {
	var prices []float64
	var samples []int
	for i, rate := range r.Values[sample.OutputRate] {
		if v, ok := price.Million(hour, rate); ok {
			prices, samples = append(prices, v), append(samples, r.samples[sample.OutputRate][i])
		}
	}
	if len(prices) == 0 {
		return
	}
	if r.Values[sample.TokenPrice] == nil {
		r.Units = append(r.Units, sample.TokenPrice)
	}
	r.Values[sample.TokenPrice], r.samples[sample.TokenPrice] = prices, samples
}

// Is reports whether a name is one of the values in the row's name or of its configuration lines, or the name of its file.
func (r *Row) Is(name string) bool {
	stated := func(s benchfile.Setting) bool { return s.Value == name }
	file := filepath.Base(r.File)
	return slices.ContainsFunc(r.Keys, stated) || slices.ContainsFunc(r.Config, stated) || name == file || name == strings.TrimSuffix(file, filepath.Ext(file))
}

// Identity returns the part of a configuration that distinguishes systems, without versions and
// times. It is sorted by key, because the order of configuration lines means nothing: it changes
// when a line is cleared and set again. A key whose value is empty was cleared, so it is left out.
func Identity(config []benchfile.Setting) []benchfile.Setting {
	kept := slices.DeleteFunc(slices.Clone(config), func(s benchfile.Setting) bool {
		return s.Value == "" || s.Key == "pkg" || slices.Contains(gate.Ignored(), s.Key)
	})
	slices.SortStableFunc(kept, func(a, b benchfile.Setting) int { return cmp.Compare(a.Key, b.Key) })
	return kept
}

// Key returns the value of a key in the name, or "".
func (r *Row) Key(name string) string { return benchfile.Lookup(r.Keys, name) }

// Setting returns the value of a configuration line, or "".
func (r *Row) Setting(key string) string { return benchfile.Lookup(r.Config, key) }

// Stated returns the different values of the rows, without the value none. If the name or the configuration of a row
// has several of the keys, the value of the first one is used.
func Stated(rows []*Row, none string, keys ...string) (values []string) {
	for _, r := range rows {
		for _, key := range keys {
			if v := cmp.Or(r.Key(key), r.Setting(key)); v != "" && v != none {
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
				break
			}
		}
	}
	return values
}

// SpedUp reports whether the row comes from a simulated server whose time runs faster or slower
// than the time of the server that it imitates (speed in LLMBENCH_MOCK).
func (r *Row) SpedUp() bool {
	speed := r.Setting("mock-speed")
	return speed != "" && speed != "1"
}

// Load returns the key of the row's load, and its value. If the row has no load, the key is "".
func (r *Row) Load() (key string, v float64) {
	return compare.LoadOf(r.Key)
}

// LoadText returns the row's load in words, such as "8 users", or "8 users at most" if users come and leave. If the row has no
// load, it returns "".
func (r *Row) LoadText() string {
	load, x := r.Load()
	switch {
	case load == "":
		return ""
	case r.Key("stages") != "" && !compare.Open(load):
		return compare.Load(load, x) + " at most"
	}
	return compare.Load(load, x)
}

// A Spread is the median, the minimum and the maximum of samples.
type Spread struct {
	Mid, Low, High float64
	N              int
}

// Spread returns the spread of the first of the units that the row has, and that unit. If the row
// has none of them, the unit is "".
func (r *Row) Spread(units ...string) (s Spread, unit string) {
	for _, u := range units {
		if v := r.Values[u]; len(v) > 0 {
			return SpreadOf(v), u
		}
	}
	return Spread{}, ""
}

// SpreadOf returns the spread of values. There must be at least one value.
func SpreadOf(values []float64) Spread {
	return Spread{Mid: robust.Median(values), Low: slices.Min(values), High: slices.Max(values), N: len(values)}
}

// sampleOf returns the sample that a run is, or nil if that is unknown.
func (r *Row) sampleOf(run *records.Run) []int {
	switch {
	case r.count == 1:
		return []int{0}
	case r.Line > 0:
		return r.sampleWith(run)
	}
	return []int{slices.Index(r.Runs, run)}
}

// sampleWith returns the first sample that has a run's values, or nil if none has them. Values are compared to about
// four digits, because benchmark files have no more.
func (r *Row) sampleWith(run *records.Run) []int {
	figures := run.Figures().Metrics
	for i := range r.count {
		if r.equal(i, figures) {
			return []int{i}
		}
	}
	return nil
}

// equal reports whether a sample has these values, apart from the rounding in benchmark files.
func (r *Row) equal(sample int, figures map[string]float64) bool {
	compared := 0
	for unit, values := range r.Values {
		v, has := figures[unit]
		i := slices.Index(r.samples[unit], sample)
		if !has || i < 0 {
			continue
		}
		if math.Abs(v-values[i]) > 1e-3*math.Abs(v) {
			return false
		}
		compared++
	}
	return compared > 0
}

// Samples returns the number of samples.
func (r *Row) Samples() (n int) {
	for _, v := range r.Values {
		n = max(n, len(v))
	}
	return max(n, r.count)
}

// Compare orders rows by name. Numbers in names are ordered by value.
func Compare(a, b *Row) int { return Natural(a.Name, b.Name) }

// Natural compares texts like cmp.Compare, but compares runs of digits as numbers. So
// "concurrency=2" comes before "concurrency=16".
func Natural(a, b string) int {
	digits := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n > 0 && m > 0 {
			x, y := strings.TrimLeft(a[:n], "0"), strings.TrimLeft(b[:m], "0")
			if by := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); by != 0 {
				return by
			}
			a, b = a[n:], b[m:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}
