package k6

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// args reads the fields of a JavaScript object. It keeps the first error, which names the field, its value
// and what is allowed.
type args struct {
	object *sobek.Object // nil if there are no fields
	within string        // a prefix for the name of a field in errors
	names  []string      // the names of the fields that were read
	err    error
}

// readArgs returns a reader of the fields of v. If v is neither an object nor missing, the reader has an
// error.
func readArgs(rt *sobek.Runtime, v sobek.Value) *args {
	a := &args{}
	switch {
	case common.IsNullish(v):
	case isObject(v):
		a.object = v.ToObject(rt)
	default:
		a.err = fmt.Errorf("%s: want an object", show(v))
	}
	return a
}

// isObject reports whether v is an object other than an array or a function.
func isObject(v sobek.Value) bool {
	o, ok := v.(*sobek.Object)
	return ok && o.ClassName() == "Object"
}

// get returns the value of a field, and whether the field is set.
func (a *args) get(name string) (v sobek.Value, set bool) {
	a.names = append(a.names, name)
	if a.err != nil || a.object == nil {
		return nil, false
	}
	v = a.object.Get(name)
	return v, !common.IsNullish(v)
}

// wrong sets the error that the field has the value v, which is not allowed.
func (a *args) wrong(name string, v sobek.Value, allowed string) { a.wrongText(name, show(v), allowed) }

// wrongText is like wrong, for a value that the caller has formatted.
func (a *args) wrongText(name, value, allowed string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s%s %s: want %s", a.within, name, value, allowed)
	}
}

// text reads a field that must be a non-empty string.
func (a *args) text(dst *string, name string) {
	if v, set := a.get(name); set {
		if text, ok := v.Export().(string); ok && text != "" {
			*dst = text
			return
		}
		a.wrong(name, v, "a string that is not empty")
	}
}

// count reads a field that must be a whole number, no smaller than least.
func (a *args) count(dst *int, name string, least int) {
	if v, set := a.get(name); set {
		n := math.NaN()
		switch x := v.Export().(type) {
		case int64:
			n = float64(x)
		case float64:
			n = x
		}
		if n != math.Trunc(n) || n < float64(least) || n > math.MaxInt32 { // NaN is refused, too
			a.wrong(name, v, fmt.Sprintf("a whole number from %d to %d", least, math.MaxInt32))
			return
		}
		*dst = int(n)
	}
}

// flag reads a field that must be a boolean.
func (a *args) flag(dst *bool, name string) {
	if v, set := a.get(name); set {
		b, ok := v.Export().(bool)
		if !ok {
			a.wrong(name, v, "true or false")
			return
		}
		*dst = b
	}
}

// duration reads a field that must be a duration above 0. As elsewhere in k6, it is a string, or a number
// of milliseconds.
func (a *args) duration(dst *time.Duration, name string) {
	if v, set := a.get(name); set {
		var d time.Duration
		switch x := v.Export().(type) {
		case int64:
			d = milliseconds(float64(x))
		case float64:
			d = milliseconds(x)
		case string:
			d, _ = env.Duration(x) // 0 if x is not a duration
		}
		if d <= 0 {
			a.wrong(name, v, `a duration above 0, such as "10s", or a number of milliseconds`)
			return
		}
		*dst = d
	}
}

// milliseconds returns n milliseconds, or 0 if a time.Duration cannot hold them.
func milliseconds(n float64) time.Duration {
	if d := n * float64(time.Millisecond); d >= 1 && d < math.MaxInt64 {
		return time.Duration(d)
	}
	return 0
}

// parsed reads a field that must be a string, and converts it with parse.
func parsed[T any](a *args, dst *T, name string, parse func(string) (T, error), allowed string) {
	if v, set := a.get(name); set {
		text, ok := v.Export().(string)
		x, err := parse(text)
		if !ok || err != nil {
			a.wrong(name, v, allowed)
			return
		}
		*dst = x
	}
}

// json reads a field that must be an object, as JSON. Errors do not show the value, which may be a
// credential.
func (a *args) json(dst *json.RawMessage, name string) {
	if v, set := a.get(name); set {
		text, err := []byte(nil), error(nil)
		if isObject(v) {
			text, err = v.(*sobek.Object).MarshalJSON()
		}
		if text == nil || err != nil {
			a.wrongText(name, "of type "+typeOf(v), "an object that JSON can express")
			return
		}
		*dst = text
	}
}

// texts reads a field that must be an object whose members are strings, numbers or booleans. It calls each
// with the name and the text of every member. Errors do not show the values, which may be credentials.
func (a *args) texts(name string, rt *sobek.Runtime, each func(name, value string)) {
	if v, set := a.get(name); set {
		const allowed = "an object of strings, numbers and booleans"
		if !isObject(v) {
			a.wrongText(name, "of type "+typeOf(v), allowed)
			return
		}
		o := v.ToObject(rt)
		for _, key := range o.Keys() {
			member := o.Get(key)
			switch member.Export().(type) {
			case string, int64, float64, bool:
				each(key, member.String())
			default:
				a.wrongText(name+"."+key, "of type "+typeOf(member), allowed)
				return
			}
		}
	}
}

// list reads a field that must be an array of objects. It calls each with a reader for every object.
func (a *args) list(name string, rt *sobek.Runtime, allowed string, each func(item *args)) {
	v, set := a.get(name)
	if !set {
		return
	}
	o, ok := v.(*sobek.Object)
	if !ok || o.ClassName() != "Array" {
		a.wrong(name, v, allowed)
		return
	}
	length := o.Get("length").ToInteger()
	if length == 0 {
		a.wrongText(name, "[]", allowed)
	}
	for i := range length {
		at := fmt.Sprintf("%s[%d]", name, i)
		v := o.Get(strconv.FormatInt(i, 10))
		if common.IsNullish(v) || !isObject(v) {
			a.wrong(at, v, "an object")
			return
		}
		item := readArgs(rt, v)
		item.within = a.within + at + "."
		each(item)
		if err := item.end(); err != nil && a.err == nil {
			a.err = err
		}
	}
}

// end returns the first error. If there is none, it returns an error if the object has a field that was not
// read.
func (a *args) end() error {
	if a.err != nil || a.object == nil {
		return a.err
	}
	for _, key := range a.object.Keys() {
		if !slices.Contains(a.names, key) {
			return fmt.Errorf("%s%s is no field, and %s is the nearest: want fields of %s", a.within, key, env.Nearest(key, a.names), strings.Join(a.names, ", "))
		}
	}
	return nil
}

// maxShown is the maximum number of characters of a value that an error shows.
const maxShown = 60

// show formats a value for an error.
func show(v sobek.Value) string {
	if common.IsNullish(v) {
		return "missing"
	}
	text := v.String()
	if _, ok := v.Export().(string); ok {
		text = strconv.Quote(text)
	}
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown]) + "…"
	}
	return text
}

// typeOf returns the type of a value, for an error that must not show the value itself.
func typeOf(v sobek.Value) string {
	if o, ok := v.(*sobek.Object); ok {
		return o.ClassName()
	}
	if common.IsNullish(v) {
		return "undefined"
	}
	return v.ExportType().Kind().String()
}
