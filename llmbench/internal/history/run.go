package history

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// A Run holds the contents of one file of a history.
type Run struct {
	Name string // file name
	About
	Date     string // when the run was added, in RFC 3339 format, or as the results say, or "" if unknown
	Cells    []Cell
	Failed   bool // the file has a line FAIL: a benchmark of the run failed
	Accepted bool // Dir.Ack has accepted the run's results as they are
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
	packages    []string          // all packages, without duplicates
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

// Read reads one run from the text of its file. Errors name the file and the line.
func (r *Reader) Read(name string, text []byte) (*Run, error) {
	about, err := Stated(text)
	if err == nil {
		err = about.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	run := &Run{Name: name, About: about, Date: date(text), Cells: make([]Cell, 0, r.cells), Failed: benchline.Failed(text)}
	in, _ := benchline.Lines(text, name) // Add does not accept torn lines
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
	if pkg := r.pkg(row); pkg != "" && !slices.Contains(r.packages, pkg) {
		r.packages = append(r.packages, pkg)
	}
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
	if pkg := r.pkg(row); pkg != "" {
		return pkg + "." + r.name(row)
	}
	return r.name(row)
}

// shortName is benchmarkName with as few of the last elements of the package's path as tell it from the other packages.
func (r *Reader) shortName(row benchproc.Key) string {
	b := r.benchmark(row)
	if b.Package == "" {
		return b.Name
	}
	return b.Package + "." + b.Name
}

// benchmark returns the row's benchmark. Its package has as few of the last elements of the path as tell it from the
// other packages.
func (r *Reader) benchmark(row benchproc.Key) rowname.Benchmark {
	pkg := r.pkg(row)
	if pkg == "" {
		return rowname.Benchmark{Name: r.name(row)}
	}
	short := path.Base(pkg)
	for short != pkg && slices.ContainsFunc(r.packages, func(other string) bool { return other != pkg && strings.HasSuffix("/"+other, "/"+short) }) {
		short = path.Join(path.Base(strings.TrimSuffix(pkg, "/"+short)), short)
	}
	return rowname.Benchmark{Package: short, Name: r.name(row)}
}

func (r *Reader) pkg(row benchproc.Key) string { return row.Get(r.row.Fields()[0]) }

func (r *Reader) name(row benchproc.Key) string { return row.Get(r.row.Fields()[1]) }

// pattern returns a value of the go test flag -bench that matches exactly the row's benchmark.
func (r *Reader) pattern(row benchproc.Key) string {
	name := benchfile.ParseName(r.name(row)).WithoutProcs()
	parts := strings.Split(name, "/")
	parts[0] = "Benchmark" + parts[0]
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
