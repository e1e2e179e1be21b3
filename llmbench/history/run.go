package history

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
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
	cells       int               // the largest number of cells of a run
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
	run := &Run{Name: name, About: about, Cells: make([]Cell, 0, r.cells)}
	for line := range bytes.Lines(text) {
		if key, value, ok := setting(line); ok && key == "date" && run.Date == "" {
			run.Date = value
		}
		line = bytes.TrimSpace(line)
		run.Failed = run.Failed || bytes.Equal(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("--- FAIL")) || bytes.HasPrefix(line, []byte("FAIL\t"))
	}
	in := benchfmt.NewReader(bytes.NewReader(text), name)
	cells := cellIndex{at: make(map[Cell]int, r.cells)}
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.UnitMetadata:
			run.unitsSet = append(run.unitsSet, rec)
		case *benchfmt.Result:
			if err := r.add(run, &cells, rec); err != nil {
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
	for i, values := range cells.more {
		run.Cells[i].Value = median(values)
	}
	r.cells = max(r.cells, len(run.Cells))
	return run, nil
}

// A cellIndex finds the cells of a run.
type cellIndex struct {
	at   map[Cell]int      // in Run.Cells, by the cell without its value
	more map[int][]float64 // the values of cells with more than one
}

// add adds a result to the cells of a run. A cell has the first of its values.
func (r *Reader) add(run *Run, cells *cellIndex, rec *benchfmt.Result) error {
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
		i, again := cells.at[c]
		if !again {
			cells.at[c] = len(run.Cells)
			c.Value = v.Value
			run.Cells = append(run.Cells, c)
			continue
		}
		if cells.more == nil {
			cells.more = map[int][]float64{}
		}
		if cells.more[i] == nil {
			cells.more[i] = []float64{run.Cells[i].Value}
		}
		cells.more[i] = append(cells.more[i], v.Value)
	}
	return nil
}

// median returns the median of values, of which there is at least one.
func median(values []float64) float64 {
	s := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(s, 0.95).Center
}

// benchmarkName returns the name of a row, without "Benchmark", after the package if there is one.
func (r *Reader) benchmarkName(row benchproc.Key) string {
	fields := r.row.Fields()
	pkg, name := row.Get(fields[0]), row.Get(fields[1])
	if pkg != "" {
		return pkg + "." + name
	}
	return name
}

// pattern returns an argument of -bench that matches the benchmark of a row.
func (r *Reader) pattern(row benchproc.Key) string {
	name := benchfile.ParseName(row.Get(r.row.Fields()[1])).WithoutProcs()
	parts := strings.Split(name, "/")
	parts[0] = "Benchmark" + parts[0]
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
