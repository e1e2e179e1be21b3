package gate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// results holds the results of one file.
type results struct {
	name        string
	data        []byte
	rows        []*samples // in order of appearance
	byKey       map[benchproc.Key]*samples
	units       []*benchfmt.UnitMetadata // in order
	resultLines map[int]bool             // numbers of the lines that are results
	problems    []Problem
}

// samples are the results of one benchmark in one file.
type samples struct {
	key       benchproc.Key // the row
	config    benchproc.Key // configuration of the first result
	pkg, name string        // of the row
	full      string        // full name of the benchmark of the first result
	line      int           // of the first result
	n         int           // number of results
	mixed     bool          // the results differ in benchmark or configuration
	units     []string
	values    map[string][]float64 // by tidied unit
}

// maxSyntaxErrors is the maximum number of lines of a file that are reported one by one.
const maxSyntaxErrors = 10

// projections assign results to rows and find differences in configuration.
type projections struct {
	row    *benchproc.Projection // package and benchmark
	config *benchproc.Projection // all other keys that are not ignored
	named  *benchproc.Field      // the field of row with the benchmark
	pkg    *benchproc.Field      // the field of row with the package, or nil if ignored
}

// newProjections returns projections without the keys of Ignored and ignore.
func newProjections(ignore []string) (*projections, error) {
	p := &projections{}
	keys := slices.Concat(Ignored(), ignore)
	row := "pkg .fullname"
	if slices.Contains(keys, "pkg") {
		row = ".fullname"
	}
	var quoted []string
	for _, k := range keys {
		if k == "" || k == "/" || strings.HasPrefix(k, ".") {
			return nil, fmt.Errorf("ignore: %q, want a configuration key or a /key of benchmark names", k)
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
	fields := p.row.Fields()
	p.named = fields[len(fields)-1]
	if len(fields) > 1 {
		p.pkg = fields[0]
	}
	p.config = parser.Residue()
	return p, nil
}

// read reads a file. It returns an error if reading fails. Errors in the contents
// become problems.
func (p *projections) read(f File) (*results, error) {
	r := &results{name: f.Name, byKey: map[benchproc.Key]*samples{}, resultLines: map[int]bool{}}
	if f.Data == nil {
		return r, nil
	}
	var err error
	if r.data, err = io.ReadAll(f.Data); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	syntax := 0
	in := benchfmt.NewReader(bytes.NewReader(r.data), f.Name)
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			if syntax++; syntax <= maxSyntaxErrors {
				r.problemf(rec.Line, "%s", rec.Msg)
			}
		case *benchfmt.UnitMetadata:
			r.units = append(r.units, rec)
		case *benchfmt.Result:
			p.add(r, rec)
		}
	}
	if syntax > maxSyntaxErrors {
		r.problemf(0, "and %d more lines that cannot be parsed", syntax-maxSyntaxErrors)
	}
	if in.Err() != nil { // reading from memory, the only possible error is a line that is too long
		tooLong := func(line []byte) bool { return len(line) >= bufio.MaxScanTokenSize }
		r.problemf(1+slices.IndexFunc(bytes.Split(r.data, []byte("\n")), tooLong), "want less than %d bytes in a line", bufio.MaxScanTokenSize)
	}
	return r, nil
}

// add adds one result to the samples of its row.
func (p *projections) add(r *results, rec *benchfmt.Result) {
	_, line := rec.Pos()
	r.resultLines[line] = true
	key, config := p.row.Project(rec), p.config.Project(rec)
	s := r.byKey[key]
	full := "Benchmark" + rec.Name.String()
	if pkg := rec.GetConfig("pkg"); pkg != "" {
		full = pkg + "." + full
	}
	if s == nil {
		s = &samples{key: key, config: config, name: key.Get(p.named), full: full, line: line, values: map[string][]float64{}}
		if p.pkg != nil {
			s.pkg = key.Get(p.pkg)
		}
		r.byKey[key] = s
		r.rows = append(r.rows, s)
	}
	s.n++
	problemf := func(unit, format string, args ...any) {
		r.problems = append(r.problems, Problem{r.name, line, s.pkg, s.name, unit, fmt.Sprintf(format, args...)})
	}
	if s.full != full && !s.mixed {
		s.mixed = true
		problemf("", "a result of %s, but the row has results of %s since line %d: want one benchmark in a row, so ignore fewer keys", full, s.full, s.line)
	}
	if s.config != config && !s.mixed {
		s.mixed = true
		d := p.differences(s.config, config)[0]
		problemf("", "%s is %s, but %s at line %d: want one value for a benchmark", d.key, d.new, d.old, s.line)
	}
	seen := map[string]bool{}
	for _, v := range rec.Values {
		// benchfmt does not tidy the unit of 0 and of infinity, so Tidy is called here.
		_, unit := benchunit.Tidy(1, v.Unit)
		if seen[unit] {
			problemf(unit, "two values in one result: want one")
		}
		seen[unit] = true
		if !usable(v.Value) {
			problemf(unit, "%v: want a finite number", v.Value)
		}
		if s.values[unit] == nil {
			s.units = append(s.units, unit)
		}
		s.values[unit] = append(s.values[unit], v.Value)
	}
}

// A difference is a configuration key with two values.
type difference struct{ key, old, new string }

// differences returns the keys in which two configurations differ.
func (p *projections) differences(old, new benchproc.Key) []difference {
	var all []difference
	for _, f := range benchproc.NonSingularFields([]benchproc.Key{old, new}) {
		all = append(all, difference{f.Name, orNotSet(old.Get(f)), orNotSet(new.Get(f))})
	}
	return all
}

func orNotSet(v string) string {
	if v == "" {
		return "not set"
	}
	return v
}
