package gate

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// results holds the results of one file.
type results struct {
	name        string // name of the file
	version     string // version that was measured, or ""
	label       string // version if there is one, otherwise name; for messages
	data        []byte
	rows        []*samples // in order of appearance
	byKey       map[benchproc.Key]*samples
	units       []*benchfmt.UnitMetadata // in order
	resultLines map[int]*samples         // the row of each line that is a result, by line number
	partial     bool                     // a run did not end in PASS, and Options.Partial accepted that
	problems    []Problem
}

// samples are the results of one benchmark in one file.
type samples struct {
	key       benchproc.Key // the row
	config    benchproc.Key // configuration of the first result
	pkg, name string        // package and name of the row
	full      string        // full name of the benchmark in the first result
	line      int           // line of the first result
	n         int           // number of results
	inRun     int           // the largest number of results in one complete run
	processes [][]int       // the results of each complete run, by their indexes
	apart     string        // why the results of each process stay apart, as unfoldable says; "" if they need not
	runs      int           // complete runs that should have a result, as countAbsent says; 0 if not known
	absent    int           // how many of these runs have none
	mixed     bool          // the results differ in benchmark or configuration
	units     []string
	values    map[string][]float64 // by unit
	of        map[string][]int     // for each value, the index of its result, counted from 0; by unit
}

// maxSyntaxErrors is the maximum number of invalid lines of a file that are reported individually.
const maxSyntaxErrors = 10

// projections assign results to rows and values to units, and find differences between configurations.
type projections struct {
	row    *benchproc.Projection // package and benchmark
	config *benchproc.Projection // all other keys that are not ignored
	named  *benchproc.Field      // the field of row with the benchmark
	pkg    *benchproc.Field      // the field of row with the package, or nil if ignored
	col    *benchproc.Projection // the key of CompareColumns, or nil
	filter *benchproc.Filter     // omits results whose value of that key was not selected
	units  map[string]string     // the spelling of each unit in the first result that has it, by tidied unit
}

// newProjections returns projections that ignore the keys in Ignored and ignore. If col is not "", it is
// the key of CompareColumns.
func newProjections(ignore []string, col string) (*projections, error) {
	p := &projections{units: map[string]string{}}
	keys := slices.Concat(Ignored(), ignore)
	row := "pkg .fullname"
	if slices.Contains(keys, "pkg") {
		row = ".fullname"
	}
	var quoted []string
	for _, k := range keys {
		if k == "" || k == "/" || strings.HasPrefix(k, ".") {
			return nil, fmt.Errorf("ignore: %q: want a configuration key or a /key of benchmark names", k)
		}
		quoted = append(quoted, strconv.Quote(k))
	}
	var parser benchproc.ProjectionParser
	var err error
	if p.row, err = parser.Parse(row, nil); err == nil {
		_, err = parser.Parse(strings.Join(quoted, " "), nil)
	}
	if err != nil {
		return nil, fmt.Errorf("ignore: %w", err)
	}
	if col != "" {
		if p.filter, err = benchproc.NewFilter("*"); err == nil {
			p.col, err = parser.Parse(col, p.filter)
		}
		if err != nil {
			return nil, fmt.Errorf("col: %w", err)
		}
		if f := p.col.Fields(); len(f) != 1 || f[0].IsTuple || f[0].Name == ".fullname" {
			return nil, fmt.Errorf("col: %q: want one key: a /key of benchmark names, a configuration key or .name", col)
		}
	}
	fields := p.row.Fields()
	p.named = fields[len(fields)-1]
	if len(fields) > 1 {
		p.pkg = fields[0]
	}
	p.config = parser.Residue()
	return p, nil
}

// newResults returns the results of a file, which are empty at first.
func newResults(name, version string) *results {
	return &results{name: name, version: version, label: cmp.Or(version, name), byKey: map[benchproc.Key]*samples{}, resultLines: map[int]*samples{}}
}

// read reads a file. It returns an error if reading fails. Errors in the contents of the file become
// problems.
func (p *projections) read(f File) (*results, error) {
	r := newResults(f.Name, f.Version)
	return r, p.readEach(f, r, func(rec *benchfmt.Result) { p.add(r, rec) })
}

// readEach reads a file. It passes the results to add, and stores everything else in r.
func (p *projections) readEach(f File, r *results, add func(*benchfmt.Result)) error {
	if f.Data == nil {
		return nil
	}
	var err error
	if r.data, err = benchline.Text(f.Data); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	in, wrong := benchline.Lines(r.data, f.Name)
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			wrong = append(wrong, rec)
		case *benchfmt.UnitMetadata:
			r.units = append(r.units, rec)
		case *benchfmt.Result:
			add(rec)
		}
	}
	for _, e := range wrong[:min(len(wrong), maxSyntaxErrors)] {
		r.problemf(e.Line, "%s", e.Msg)
	}
	if n := len(wrong) - maxSyntaxErrors; n > 0 {
		r.problemf(0, "and %d more lines that cannot be parsed", n)
	}
	if in.Err() != nil { // reading from memory, the only possible error is a line that is too long
		tooLong := func(line []byte) bool { return len(line) >= bufio.MaxScanTokenSize }
		r.problemf(1+slices.IndexFunc(bytes.Split(r.data, []byte("\n")), tooLong), "want less than %d bytes in a line", bufio.MaxScanTokenSize)
	}
	return nil
}

// readColumns reads a file. It returns the results with the first and with the second value of the key
// p.col, and the number of the remaining results.
func (p *projections) readColumns(f File) (old, new *results, leftOut int, err error) {
	whole := newResults(f.Name, "")
	columns := map[benchproc.Key]*results{}
	key := p.col.Fields()[0]
	err = p.readEach(f, whole, func(rec *benchfmt.Result) {
		if kept, _ := p.filter.Apply(rec); !kept {
			leftOut++
			return
		}
		column := p.col.Project(rec)
		value := column.Get(key)
		if value == "" {
			leftOut++
			return
		}
		if columns[column] == nil {
			columns[column] = newResults(f.Name, key.Name+"="+value)
			columns[column].resultLines = whole.resultLines
		}
		p.add(columns[column], rec)
	})
	if err != nil {
		return nil, nil, 0, err
	}
	keys := slices.Collect(maps.Keys(columns))
	benchproc.SortKeys(keys)
	if len(keys) != 2 {
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = k.Get(key)
		}
		return nil, nil, 0, fmt.Errorf("col: the results of %s have %s of %s: %s: want two, which -col='%s@(OLD NEW)' selects",
			f.Name, numbers.Count(len(keys), "value"), key.Name, list(values, maxSubjects), key.Name)
	}
	old, new = columns[keys[0]], columns[keys[1]]
	// Store problems of the whole file in one side only, so that they are reported once.
	old.data, old.units, old.problems = whole.data, whole.units, slices.Concat(whole.problems, old.problems)
	return old, new, leftOut, nil
}

// add adds one result to the samples of its row.
func (p *projections) add(r *results, rec *benchfmt.Result) {
	_, line := rec.Pos()
	key, config := p.row.Project(rec), p.config.Project(rec)
	s := r.byKey[key]
	full := "Benchmark" + rec.Name.String()
	if pkg := rec.GetConfig("pkg"); pkg != "" {
		full = pkg + "." + full
	}
	if s == nil {
		s = &samples{key: key, config: config, name: key.Get(p.named), full: full, line: line, values: map[string][]float64{}, of: map[string][]int{}}
		if p.pkg != nil {
			s.pkg = key.Get(p.pkg)
		}
		r.byKey[key] = s
		r.rows = append(r.rows, s)
	}
	r.resultLines[line] = s
	s.n++
	problemf := func(unit, format string, args ...any) {
		r.problems = append(r.problems, Problem{r.name, line, s.pkg, s.name, unit, fmt.Sprintf(format, args...)})
	}
	if s.full != full && !s.mixed {
		s.mixed = true
		problemf("", "a result of %s, but the row has results of %s since line %d: want one benchmark in a row, so ignore fewer keys", full, s.full, s.line)
	}
	if s.config != config && !s.mixed {
		if all := p.differences(s.config, config); len(all) > 0 {
			s.mixed = true
			d := all[0]
			problemf("", "%s is %s, but %s at line %d: want one value for a benchmark (benchgate -ignore=%s accepts that)", d.key, d.new, d.old, s.line, d.key)
		}
	}
	seen := map[string]bool{}
	for _, v := range rec.Values {
		value, unit := p.written(v)
		if seen[unit] {
			problemf(unit, "two values in one result: want one")
		}
		seen[unit] = true
		if !usable(value) {
			problemf(unit, "%v: want a finite number", value)
		}
		if s.values[unit] == nil {
			s.units = append(s.units, unit)
		}
		s.values[unit], s.of[unit] = append(s.values[unit], value), append(s.of[unit], s.n-1)
	}
}

// written returns a value and its unit as the files write them. benchfmt tidies units: it turns ns/op into
// sec/op. If the files write one tidied unit in several ways, the value is converted to the unit that came
// first.
func (p *projections) written(v benchfmt.Value) (value float64, unit string) {
	value, unit = v.OrigValue, v.OrigUnit
	if unit == "" { // benchfmt did not tidy the value; it never tidies 0 and infinity
		value, unit = v.Value, v.Unit
	}
	factor, tidied := benchunit.Tidy(1, unit)
	first, ok := p.units[tidied]
	if !ok {
		p.units[tidied] = unit
		return value, unit
	}
	if first != unit {
		perFirst, _ := benchunit.Tidy(1, first)
		value = numbers.Rounded(value*factor/perFirst, 14)
	}
	return value, first
}

// A difference is a configuration key with two values.
type difference struct{ key, old, new string }

// differences returns the keys in which two configurations differ.
func (p *projections) differences(old, new benchproc.Key) []difference {
	var all []difference
	for _, f := range benchproc.NonSingularFields([]benchproc.Key{old, new}) {
		if absent, known := unsaid[f.Name]; known && cmp.Or(old.Get(f), absent) == cmp.Or(new.Get(f), absent) {
			continue
		}
		all = append(all, difference{f.Name, orNotSet(old.Get(f)), orNotSet(new.Get(f))})
	}
	return all
}

// unsaid says what a configuration key had as its value before llmbench printed the key.
var unsaid = map[string]string{"priority": "none", "http": "1.1"}

func orNotSet(v string) string { return cmp.Or(v, "not set") }

// problemf adds a problem of the whole file.
func (f *results) problemf(line int, format string, args ...any) {
	f.problems = append(f.problems, Problem{File: f.name, Line: line, Message: fmt.Sprintf(format, args...)})
}
