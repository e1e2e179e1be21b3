package history

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// A Run is the contents of one file of a history.
type Run struct {
	Name string // of the file
	About
	Date     string // when the run was added, RFC 3339, or ""
	Cells    []Cell
	Failed   bool // the file has a line FAIL: a benchmark of the run failed
	unitsSet []*benchfmt.UnitMetadata
}

// A Cell is what a run measured of one unit of one benchmark: the median of the results in the file.
type Cell struct {
	Row    benchproc.Key // the benchmark with its package
	Config benchproc.Key // what must be equal for two cells to be comparable
	Unit   string        // tidied, as benchfmt has it: "sec/op"
	Value  float64       // in Unit, finite
}

// A Reader reads files of one history. Keys of cells of one Reader can be compared.
type Reader struct {
	row, config *benchproc.Projection
	spelled     map[string]string // how the files spell a tidied unit, by tidied unit
}

// NewReader returns a Reader. Cells of runs that differ only in the keys of ignore, in the keys that [gate.Ignored]
// lists and in rerun-of are comparable. NewReader panics if a key of ignore is no configuration key.
func NewReader(ignore ...string) *Reader {
	r := &Reader{spelled: map[string]string{}}
	var parser benchproc.ProjectionParser
	var err error
	if r.row, err = parser.Parse("pkg .fullname", nil); err == nil {
		var quoted []string
		for _, key := range slices.Concat(gate.Ignored(), []string{"rerun-of"}, ignore) {
			quoted = append(quoted, strconv.Quote(key))
		}
		_, err = parser.Parse(strings.Join(quoted, " "), nil)
	}
	if err != nil {
		panic(err)
	}
	r.config = parser.Residue()
	return r
}

// ReadAll reads the runs of a folder, in the order of commit times; runs of one commit are in the order in which they
// were added.
func (r *Reader) ReadAll(d Dir) ([]*Run, error) {
	l, err := d.List()
	if err != nil {
		return nil, err
	}
	runs := make([]*Run, len(l.Runs))
	for i, name := range l.Runs {
		text, err := os.ReadFile(filepath.Join(string(d), name))
		if err != nil {
			return nil, err
		}
		if runs[i], err = r.Read(name, text); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(runs, func(a, b *Run) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Date, b.Date)
	})
	return runs, nil
}

// Read reads the file of a run. Errors name the file and the line.
func (r *Reader) Read(name string, text []byte) (*Run, error) {
	about, err := Stated(text)
	if err == nil {
		err = about.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	run := &Run{Name: name, About: about}
	for line := range bytes.Lines(text) {
		if key, value, ok := setting(line); ok && key == "date" && run.Date == "" {
			run.Date = value
		}
		line = bytes.TrimSpace(line)
		run.Failed = run.Failed || bytes.Equal(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("--- FAIL")) || bytes.HasPrefix(line, []byte("FAIL\t"))
	}
	in := benchfmt.NewReader(bytes.NewReader(text), name)
	values := map[Cell][]float64{} // by cells without a value
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.UnitMetadata:
			run.unitsSet = append(run.unitsSet, rec)
		case *benchfmt.Result:
			if err := r.add(run, values, rec); err != nil {
				return nil, err
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(run.Cells) == 0 {
		return nil, fmt.Errorf("%s: no results", name)
	}
	for i, c := range run.Cells {
		run.Cells[i].Value = median(values[c])
	}
	return run, nil
}

// add adds a result to the cells of a run, whose values are still 0.
func (r *Reader) add(run *Run, values map[Cell][]float64, rec *benchfmt.Result) error {
	file, line := rec.Pos()
	row, config := r.row.Project(rec), r.config.Project(rec)
	for _, v := range rec.Values {
		c := Cell{Row: row, Config: config, Unit: v.Unit}
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return fmt.Errorf("%s:%d: %s is %v: want a finite number", file, line, v.Unit, v.Value)
		}
		if _, ok := r.spelled[v.Unit]; !ok && v.OrigUnit != "" {
			r.spelled[v.Unit] = v.OrigUnit
		}
		if values[c] == nil {
			run.Cells = append(run.Cells, c)
		}
		values[c] = append(values[c], v.Value)
	}
	return nil
}

// median returns the median of values, of which there is at least one.
func median(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	s := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(s, 0.95).Center
}

// BenchmarkName returns the name of a row, without "Benchmark", after the package if there is one.
func (r *Reader) BenchmarkName(row benchproc.Key) string {
	fields := r.row.Fields()
	pkg, name := row.Get(fields[0]), row.Get(fields[1])
	if pkg != "" {
		return pkg + "." + name
	}
	return name
}
