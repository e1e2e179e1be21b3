package resultfile

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// maxResults is the maximum number of results in a file.
const maxResults = 10_000

var errTooManyResults = fmt.Errorf("more than %d results: want the summary of a run", maxResults)

func itoa(n int) string { return strconv.Itoa(n) }

// A field says where a metric is in a tool's file. In key and unit, "{}" stands for a statistic: the mean
// or a percentile.
type field struct {
	key    string
	unit   string // llmbench's unit
	factor float64
	theirs string // the tool's unit
}

// A statistic has two names: ours is a part of the names of llmbench's units, such as "p50", and theirs is a
// part of the keys in the file of another tool, such as "median".
type statistic struct{ ours, theirs string }

// Factors that convert a tool's unit of time to nanoseconds.
const (
	second      = 1e9
	millisecond = 1e6
	nanosecond  = 1
)

// times maps units of time to factors that convert them to nanoseconds.
var times = map[string]float64{"ns": nanosecond, "us": 1e3, "ms": millisecond, "s": second, "sec": second}

// A reading is the reading of one value in a file: an object that contains one or several results.
type reading struct {
	file       *File
	options    Options
	tool, base string
	node       *document.Node // the object that is being read
	at         string         // precedes keys in messages, such as "benchmarks[1]."
	res        Result
	known      map[*document.Node]bool // values that the format's reader has read: the others may be settings
	err        error                   // the first error
}

// know marks values that the format's reader has read, so that they are no settings.
func (r *reading) know(nodes ...*document.Node) {
	if r.known == nil {
		r.known = map[*document.Node]bool{}
	}
	for _, n := range nodes {
		if n != nil {
			r.known[n] = true
		}
	}
}

// begin begins a result. Its metrics are in n.
func (r *reading) begin(at string, n *document.Node) {
	r.at, r.node = at, n
	r.res = Result{Name: r.base, At: strings.TrimRight(at, ".: ")}
}

// end ends a result.
func (r *reading) end() {
	if len(r.file.Results) >= maxResults && r.err == nil {
		r.err = errTooManyResults
	}
	if r.err == nil && len(r.res.Values) == 0 {
		r.failf("", "has no known metric of %s", r.tool)
	}
	if r.err == nil {
		r.file.Results = append(r.file.Results, r.res)
	}
}

// failf records why the file cannot be used as a sample. Only the first reason is kept.
func (r *reading) failf(key, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Path: r.file.Path, Key: r.tool + ": " + r.at + key, Text: fmt.Sprintf(format, args...)}
	}
}

// beside records that the file is not a result, but belongs to results in the same folder.
func (r *reading) beside(format string, args ...any) {
	if r.err == nil {
		r.err = besideError{fmt.Sprintf(format, args...)}
	}
}

// notef adds a note, unless the file already has it.
func (r *reading) notef(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if !slices.Contains(r.file.Notes, note) {
		r.file.Notes = append(r.file.Notes, note)
	}
}

// number returns a number, and false if the file does not have it. A number that is NaN, infinite or
// negative is an error.
func (r *reading) number(key string) (float64, bool) {
	n := r.node.Get(key)
	r.know(n)
	if n == nil || !r.node.Has(key) || n.Text() == "" {
		return 0, false
	}
	v, ok := n.Number()
	switch {
	case !ok:
		if n.Text() == "N/A" { // Locust writes this for no value
			return 0, false
		}
		r.failf(key, "is %.40q: want a number", n.Text())
	case math.IsNaN(v) || math.IsInf(v, 0):
		r.failf(key, "is %v: want a finite number", v)
	case v == -1:
		r.failf(key, "is -1, as if no request had succeeded: want 0 or more")
	case v < 0 || v > 1e15:
		r.failf(key, "is %v: want a number from 0 to 1e15", v)
	default:
		return v, true
	}
	return 0, false
}

// positive reports a failure if the number at a key is 0. It is the number of what, such as "output tokens".
func (r *reading) positive(key, what string) {
	if v, ok := r.number(key); ok && v == 0 {
		r.failf(key, "is 0: want %s", what)
	}
}

// fields adds the metrics in a table to the result. all are the statistics that "{}" stands for.
func (r *reading) fields(table []field, all []statistic) {
	for _, f := range table {
		if !strings.Contains(f.unit, "{}") {
			r.field(f)
			continue
		}
		for _, s := range all {
			r.field(field{strings.Replace(f.key, "{}", s.theirs, 1), strings.Replace(f.unit, "{}", s.ours, 1), f.factor, f.theirs})
		}
	}
}

// timed sets the factor of a field that has none, from the unit in the file, whose key is the metric's name plus
// suffix. If rates is true, a time per something, such as ms/token, is a unit too. timed returns false, and records
// a failure, if the file has the metric in another unit than those in want.
func (r *reading) timed(f *field, suffix string, rates bool, want string) bool {
	if f.factor != 0 {
		return true
	}
	metric := strings.TrimSuffix(f.key, ".{}")
	f.theirs = r.node.Get(metric + suffix).Text()
	unit := f.theirs
	if rates {
		unit, _, _ = strings.Cut(unit, "/")
	}
	if f.factor = times[unit]; f.factor == 0 && r.node.Has(metric) {
		r.failf(metric+suffix, "is %.20q: want %s", f.theirs, want)
		return false
	}
	return true
}

// field adds a metric to the result, if the file has it.
func (r *reading) field(f field) {
	v, ok := r.number(f.key)
	if !ok {
		return
	}
	switch isTime := strings.HasSuffix(f.unit, "-ns"); {
	case v == 0 && isTime && (strings.Contains(f.unit, "ttft") || strings.Contains(f.unit, "e2e")):
		r.failf(f.key, "is 0: want more than 0; was every request refused?")
		return
	case v == 0 && (isTime || f.unit != sample.FailShare):
		return // nothing was counted, for example no time per token for answers of one token
	}
	r.add(f.unit, v*f.factor, Source{r.tool, r.at + f.key, f.theirs, f.factor})
}

// add adds a value to the result, unless the result already has a value in this unit.
func (r *reading) add(unit string, v float64, s Source) {
	if !r.has(unit) {
		r.res.Values = append(r.res.Values, Value{unit, v, s})
	}
}

// has reports whether the result has a value in the given unit.
func (r *reading) has(unit string) bool { return r.res.has(unit) }

// perCompleted adds a number of tokens by the number of completed requests to the result, if the file has both and neither
// is 0.
func (r *reading) perCompleted(unit, key string) {
	v, ok := r.number(key)
	n, also := r.number("completed")
	if ok && also && v > 0 && n > 0 {
		r.add(unit, v/n, Source{r.tool, r.at + key + " / completed", "tok/req", 1})
	}
}

// requests checks how many requests succeeded and failed. Its arguments are the keys of these numbers. A
// number is unknown if its key is "" or the file does not have it.
func (r *reading) requests(completed, failed, asked string) {
	c, known := r.number(completed)
	if completed != "" && known && c == 0 {
		r.failf(completed, "is 0: want a successful request")
		return
	}
	bad, of := 0.0, ""
	f, hasFailed := r.number(failed)
	n, hasAsked := r.number(asked)
	switch {
	case hasFailed:
		bad, of = f, failed
	case hasAsked && known:
		bad, of = max(0, n-c), asked
	default:
		r.notef("%s does not say how many requests failed", r.tool)
		return
	}
	total := bad + c
	if !known {
		total = n
	}
	if hasAsked && known && hasFailed && n > c+f {
		bad, total = n-c, n
		r.notef("%s%s is %v, but only %v requests ended: the others count as failed", r.at, asked, n, c+f)
	}
	r.failures(of, bad, total)
}

// failures checks the number of failed requests. bad of total requests failed, according to the number at
// key.
func (r *reading) failures(key string, bad, total float64) {
	share := bad / max(total, bad, 1)
	if share > r.options.MaxFail {
		r.failf(key, "says that %v of %v requests failed: want at most %v (benchgate -max-fail=%.2g tolerates them)", bad, total, r.options.MaxFail, roundUp(share))
		return
	}
	if bad > 0 {
		r.notef("%v of %v requests failed", bad, total)
	}
	r.add(sample.FailShare, 100*share, Source{r.tool, r.at + key, "requests", 100 / max(total, bad, 1)})
}

// roundUp rounds a share up to two significant digits.
func roundUp(share float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(share))-1)
	return min(1, math.Ceil(share/step)*step)
}

// load adds a part of the load to the benchmark's name. If the file does not have the value, load does
// nothing.
func (r *reading) load(name, key string) {
	n := r.node.Get(key)
	r.know(n)
	if n.Text() != "" {
		r.loadIs(name, r.at+key, spell(n))
	}
}

// loadIs adds a part of the load with a value.
func (r *reading) loadIs(name, key, value string) {
	r.res.Name += "/" + name + "=" + word(value)
	r.res.Load = append(r.res.Load, benchfile.Setting{Key: key, Value: value})
}

// config adds a configuration line. If the file does not have the value, config does nothing.
func (r *reading) config(name, key string) { r.configOf(name, r.node.Get(key)) }

// configOf adds a configuration line with the scalar in n, which need not be in the object that is being read.
func (r *reading) configOf(name string, n *document.Node) {
	r.know(n)
	r.configIs(name, spell(n))
}

func (r *reading) configIs(name, value string) {
	if value = strings.TrimSpace(line(value)); value != "" {
		r.res.Config = append(r.res.Config, benchfile.Setting{Key: name, Value: value})
	}
}

// spell returns a scalar as text. An infinite number becomes "inf".
func spell(n *document.Node) string {
	v, ok := n.Number()
	if ok && math.IsInf(v, +1) {
		return "inf"
	}
	return n.Text()
}

// word returns a value in a form that can be part of a benchmark's name: without spaces and slashes, and
// without an end that looks like GOMAXPROCS.
func word(s string) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || !unicode.IsPrint(c) || c == '/' {
			return '_'
		}
		return c
	}, s[:min(len(s), 200)])
	s = strings.ToValidUTF8(s, "_")
	if i := strings.LastIndexByte(s, '-'); i >= 0 && i < len(s)-1 && strings.Trim(s[i+1:], "0123456789") == "" {
		s = s[:i] + "_" + s[i+1:]
	}
	return s
}

// line returns a text as one line of at most 200 bytes.
func line(s string) string {
	return strings.ToValidUTF8(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, s[:min(len(s), 200)]), "")
}

// whenUnix sets the time of the run to the number at key: seconds since the Unix epoch.
func (r *reading) whenUnix(key string) {
	n := r.node.Get(key)
	r.know(n)
	if v, ok := n.Number(); ok && v > 0 && v < 1e11 {
		r.res.Time = time.UnixMilli(int64(v * 1000)).UTC()
	}
}

// when sets the time of the run. The text at key must have one of the layouts.
func (r *reading) when(key string, layouts ...string) {
	n := r.node.Get(key)
	r.know(n)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, n.Text()); err == nil {
			r.res.Time = t
			return
		}
	}
}

// sibling returns the JSON or YAML value in a file that the tool writes into the folder of the file that is read. If there is
// no such file, sibling returns nil, and a note says what is therefore not known. The same holds for YAML that cannot be
// parsed, because users write such files too.
func (r *reading) sibling(name, unknown string) (found *document.Node) {
	path := filepath.Join(filepath.Dir(r.file.Path), name)
	in, err := os.Open(path)
	if err != nil {
		r.notef("there is no %s beside the file, so %s", name, unknown)
		return nil
	}
	defer in.Close()
	if filepath.Ext(name) == ".yaml" {
		if found, err = document.YAML(io.MultiReader(in, strings.NewReader("\n"))); err != nil {
			r.notef("%s beside the file cannot be read (%v), so %s", name, err, unknown)
			return nil
		}
	} else {
		err = document.JSON(in, func(n *document.Node) error {
			found = n
			return nil
		})
	}
	if err != nil && r.err == nil {
		r.err = &Error{Path: path, Text: err.Error(), cause: err}
	}
	return found
}
