package history

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A Run holds the contents of one file of a history.
type Run struct {
	Name string // file name
	About
	Date     string // when the run was added, in RFC 3339 format, or "" if unknown
	Cells    []Cell
	Failed   bool // the file has a line FAIL: a benchmark of the run failed
	unitsSet []*benchfmt.UnitMetadata
}

// A Cell is the value of one unit of one benchmark in one run. If the file of the run has several values, it is
// their median.
type Cell struct {
	Row    benchproc.Key // the benchmark with its package
	Config benchproc.Key // the configuration; cells are comparable only if it is equal
	Unit   string        // tidied by benchfmt, for example "sec/op" for "ns/op"
	Value  float64       // in Unit, finite
}

// A Reader reads the files of one history. Keys of cells can be compared only if the same Reader read them.
type Reader struct {
	row, config *benchproc.Projection
	spelled     map[string]string // the files' spelling of each unit, keyed by tidied unit
	cells       int               // the largest number of cells in a run so far
}

// NewReader returns a Reader. Cells are comparable if their configurations differ in nothing but the keys in
// ignore, the keys that [gate.Ignored] lists, and rerun-of. NewReader panics if a string in ignore is not a
// configuration key.
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

// ReadAll reads the runs of a folder and sorts them by commit time. Runs of the same commit are in the order in
// which they were added.
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
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Date, b.Date)) })
	return runs, nil
}

// Read reads one run from the text of its file. Errors name the file and the line.
func (r *Reader) Read(name string, text []byte) (*Run, error) {
	about, err := Stated(text)
	if err == nil {
		err = about.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	run := &Run{Name: name, About: about, Date: date(text), Cells: make([]Cell, 0, r.cells), Failed: gate.Failed(text)}
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
		run.Cells[i].Value = robust.Median(values)
	}
	r.cells = max(r.cells, len(run.Cells))
	return run, nil
}

// A cellIndex finds the cells of a run while the run is read.
type cellIndex struct {
	at   map[Cell]int      // index in Run.Cells, keyed by the cell with Value 0
	more map[int][]float64 // all values of the cells with several, keyed by index in Run.Cells
}

// add adds a result to the run. A new cell gets the first value; if there are further values, Read sets the
// median later.
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

// benchmarkName returns the row's benchmark name without the prefix "Benchmark", preceded by the package and a
// dot if the package is known.
func (r *Reader) benchmarkName(row benchproc.Key) string {
	fields := r.row.Fields()
	pkg, name := row.Get(fields[0]), row.Get(fields[1])
	if pkg != "" {
		return pkg + "." + name
	}
	return name
}

// pattern returns a value of the go test flag -bench that matches exactly the row's benchmark.
func (r *Reader) pattern(row benchproc.Key) string {
	name := benchfile.ParseName(row.Get(r.row.Fields()[1])).WithoutProcs()
	parts := strings.Split(name, "/")
	parts[0] = "Benchmark" + parts[0]
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
