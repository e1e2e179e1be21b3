package resultfile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/resultfile/internal/document"
)

// maxResults is the largest number of results of a file.
const maxResults = 10_000

var errTooManyResults = fmt.Errorf("more than %d results: want the summary of a run", maxResults)

func itoa(n int) string { return strconv.Itoa(n) }

// A field says where a tool's file has a figure. In key and unit, "{}" stands for a statistic: the mean or
// a percentile.
type field struct {
	key    string
	unit   string // ours
	factor float64
	theirs string // the tool's unit
}

// A statistic has a name in our units, such as "p50", and one in a tool's keys, such as "median".
type statistic struct{ ours, theirs string }

// ns and such are factors from a tool's unit to nanoseconds.
const (
	second      = 1e9
	millisecond = 1e6
	nanosecond  = 1
)

// A reading reads one value of a file: an object with one or several results.
type reading struct {
	file       *File
	options    Options
	tool, base string
	node       *document.Node // that is read
	at         string         // stands before keys in messages: "benchmarks[1]."
	res        Result
	err        error // the first
}

// begin begins a result, whose figures are in n.
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
		r.failf("", "has no figure of %s that is known", r.tool)
	}
	if r.err == nil {
		r.file.Results = append(r.file.Results, r.res)
	}
}

// failf keeps the first reason why the file is no sample.
func (r *reading) failf(key, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Path: r.file.Path, Key: r.tool + ": " + r.at + key, Text: fmt.Sprintf(format, args...)}
	}
}

// beside says that the file is no result and stands beside some.
func (r *reading) beside(format string, args ...any) {
	if r.err == nil {
		r.err = besideError{fmt.Sprintf(format, args...)}
	}
}

// notef adds a note, once.
func (r *reading) notef(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if !slices.Contains(r.file.Notes, note) {
		r.file.Notes = append(r.file.Notes, note)
	}
}

// number returns a figure, and false if the file lacks it. A figure that is NaN, infinite or negative is an
// error, unless it is -1 and the tool writes that for "none" in settings.
func (r *reading) number(key string) (float64, bool) {
	n := r.node.Get(key)
	if n == nil || !r.node.Has(key) || n.Text() == "" {
		return 0, false
	}
	v, ok := n.Number()
	switch {
	case !ok:
		if n.Text() == "N/A" { // as Locust writes for no value
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

// fields adds the figures of a table to the result.
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

// field adds a figure to the result, if the file has it.
func (r *reading) field(f field) {
	v, ok := r.number(f.key)
	if !ok {
		return
	}
	switch isTime := strings.HasSuffix(f.unit, "-ns"); {
	case v == 0 && isTime && (strings.Contains(f.unit, "ttft") || strings.Contains(f.unit, "e2e")):
		r.failf(f.key, "is 0: want more than 0; was each request refused?")
		return
	case v == 0 && (isTime || f.unit != "fail-%"):
		return // nothing was counted, such as a time per token of answers with one token
	}
	r.add(f.unit, v*f.factor, Source{r.tool, r.at + f.key, f.theirs, f.factor})
}

// add adds a value to the result, unless it has one of the unit.
func (r *reading) add(unit string, v float64, s Source) {
	if !r.has(unit) {
		r.res.Values = append(r.res.Values, Value{unit, v, s})
	}
}

// has reports whether the result has a value of a unit.
func (r *reading) has(unit string) bool {
	return slices.ContainsFunc(r.res.Values, func(v Value) bool { return v.Unit == unit })
}

// ratio adds the quotient of two figures to the result, if the file has both and neither is 0.
func (r *reading) ratio(unit, key, by, theirs string) {
	v, ok := r.number(key)
	n, also := r.number(by)
	if ok && also && v > 0 && n > 0 {
		r.add(unit, v/n, Source{r.tool, r.at + key + " / " + by, theirs, 1})
	}
}

// requests judges how many requests succeeded and failed, by the keys of the figures. A key that
// is "" or that the file lacks is not known.
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

// failures judges the number of failed requests of so many, which the figure at a key states.
func (r *reading) failures(key string, bad, total float64) {
	share := bad / max(total, bad, 1)
	if share > r.options.MaxFail {
		r.failf(key, "says that %v of %v requests failed: want at most %v (benchgate -max-fail=%.2g tolerates them)", bad, total, r.options.MaxFail, roundUp(share))
		return
	}
	if bad > 0 {
		r.notef("%v of %v requests failed", bad, total)
	}
	r.add("fail-%", 100*share, Source{r.tool, r.at + key, "requests", 100 / max(total, bad, 1)})
}

// roundUp returns a share rounded up to two digits.
func roundUp(share float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(share))-1)
	return min(1, math.Ceil(share/step)*step)
}

// load adds a part of the load to the name of the benchmark. A value that the file lacks is left out.
func (r *reading) load(name, key string) {
	if v := r.node.Get(key).Text(); v != "" {
		r.loadIs(name, r.at+key, spell(r.node.Get(key)))
	}
}

// loadIs adds a part of the load with a value.
func (r *reading) loadIs(name, key, value string) {
	r.res.Name += "/" + name + "=" + word(value)
	r.res.Load = append(r.res.Load, benchfile.Setting{Key: key, Value: value})
}

// config adds a line of configuration. A value that the file lacks is left out.
func (r *reading) config(name, key string) { r.configIs(name, spell(r.node.Get(key))) }

func (r *reading) configIs(name, value string) {
	if value = strings.TrimSpace(line(value)); value != "" {
		r.res.Config = append(r.res.Config, benchfile.Setting{Key: name, Value: value})
	}
}

// spell returns a scalar as text, and an infinite number as "inf".
func spell(n *document.Node) string {
	v, ok := n.Number()
	if ok && math.IsInf(v, +1) {
		return "inf"
	}
	return n.Text()
}

// word returns a value as a part of a benchmark's name, which has no spaces and slashes and does not
// end as if by GOMAXPROCS.
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

// when sets the time of the run from a text in one of the layouts.
func (r *reading) when(key string, layouts ...string) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, r.node.Get(key).Text()); err == nil {
			r.res.Time = t
			return
		}
	}
}

// isBeside reports whether an error says that a file is no result but may stand beside results.
func isBeside(err error) bool {
	var beside besideError
	var unknown unknownError
	return errors.As(err, &beside) || errors.As(err, &unknown)
}
