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

// args reads the fields of a JavaScript object. The first error remains; it names the field, its
// value and what is allowed.
type args struct {
	object *sobek.Object // nil: no fields
	within string        // what errors put before the name of a field
	names  []string      // of the fields that were asked for
	err    error
}

// readArgs returns a reader of v. A value that is neither an object nor missing is an error.
func readArgs(rt *sobek.Runtime, v sobek.Value) *args {
	a := &args{}
	switch {
	case common.IsNullish(v):
	case isObject(v):
		a.object = v.ToObject(rt)
	default:
		a.err = fmt.Errorf("%s; want an object", show(v))
	}
	return a
}

// isObject reports whether v is an object that is no array and no function.
func isObject(v sobek.Value) bool {
	o, ok := v.(*sobek.Object)
	return ok && o.ClassName() == "Object"
}

// get returns a field that is set.
func (a *args) get(name string) (v sobek.Value, set bool) {
	a.names = append(a.names, name)
	if a.err != nil || a.object == nil {
		return nil, false
	}
	v = a.object.Get(name)
	return v, !common.IsNullish(v)
}

// wrong makes the value of a field an error.
func (a *args) wrong(name string, v sobek.Value, allowed string) { a.wrongText(name, show(v), allowed) }

// wrongText is wrong for a value that is shown as a text.
func (a *args) wrongText(name, value, allowed string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s%s %s; want %s", a.within, name, value, allowed)
	}
}

// text reads a string that is not empty.
func (a *args) text(dst *string, name string) {
	if v, set := a.get(name); set {
		if text, ok := v.Export().(string); ok && text != "" {
			*dst = text
			return
		}
		a.wrong(name, v, "a string that is not empty")
	}
}

// count reads a whole number of at least least.
func (a *args) count(dst *int, name string, least int) {
	if v, set := a.get(name); set {
		n := math.NaN()
		switch x := v.Export().(type) {
		case int64:
			n = float64(x)
		case float64:
			n = x
		}
		if n != math.Trunc(n) || n < float64(least) || n > math.MaxInt32 { // also if n is not a number
			a.wrong(name, v, fmt.Sprintf("a whole number from %d to %d", least, math.MaxInt32))
			return
		}
		*dst = int(n)
	}
}

// flag reads a boolean.
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

// duration reads a time above 0: a string, or a number of milliseconds, as elsewhere in k6.
func (a *args) duration(dst *time.Duration, name string) {
	if v, set := a.get(name); set {
		var d time.Duration
		switch x := v.Export().(type) {
		case int64:
			d = milliseconds(float64(x))
		case float64:
			d = milliseconds(x)
		case string:
			d, _ = env.Duration(x) // 0 if it is none
		}
		if d <= 0 {
			a.wrong(name, v, `a duration above 0, such as "10s", or a number of milliseconds`)
			return
		}
		*dst = d
	}
}

// milliseconds returns a duration, or 0 if there is none of that length.
func milliseconds(n float64) time.Duration {
	if d := n * float64(time.Millisecond); d >= 1 && d < math.MaxInt64 {
		return time.Duration(d)
	}
	return 0
}

// parsed reads a string with parse.
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

// json reads an object as JSON. The value may be a credential and is not shown.
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

// texts reads an object of strings, numbers and booleans, and calls each with every name and its
// text. Values may be credentials and are not shown.
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

// list reads an array of objects, and calls each with the reader of every one.
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

// end returns the first error. A field that nobody asked for is one.
func (a *args) end() error {
	if a.err != nil || a.object == nil {
		return a.err
	}
	for _, key := range a.object.Keys() {
		if !slices.Contains(a.names, key) {
			return fmt.Errorf("%s%s is no field, and %s is the nearest; want fields of %s", a.within, key, env.Nearest(key, a.names), strings.Join(a.names, ", "))
		}
	}
	return nil
}

// maxShown is how many characters of a value an error shows.
const maxShown = 60

// show returns a value for an error.
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

// typeOf returns the type of a value for an error that must not show the value.
func typeOf(v sobek.Value) string {
	if o, ok := v.(*sobek.Object); ok {
		return o.ClassName()
	}
	if common.IsNullish(v) {
		return "undefined"
	}
	return v.ExportType().Kind().String()
}
