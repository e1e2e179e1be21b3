package records

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/fields"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An encoder appends the fields of a sample to a line. It is a visitor of samples, and uses no reflection.
// Records are written while the client measures, and package encoding/json would take several times as
// long.
type encoder struct {
	line   []byte
	shards bool // several processes made the measurement
}

// encode returns the line of a sample. The line is valid until the next call.
func (e *encoder) encode(s *sample.Sample) []byte {
	e.line = append(e.line[:0], '{')
	fields.Visit(s, e)
	e.line = append(e.line, "}\n"...)
	return e.line
}

// has reports whether the line contains a field. The argument zero says whether the field has the zero
// value.
func (e *encoder) has(when fields.When, zero bool) bool {
	switch when {
	case fields.IfSet:
		return !zero
	case fields.IfShards:
		return e.shards
	}
	return when != fields.Never
}

// key appends the name of a member. The name must not need escaping.
func (e *encoder) key(name string) {
	if e.line[len(e.line)-1] != '{' {
		e.line = append(e.line, ',')
	}
	e.line = append(append(append(e.line, '"'), name...), '"', ':')
}

func (e *encoder) number(name string, v int64, when fields.When) {
	switch {
	case when == fields.Null || when == fields.Came && v <= 0:
		e.key(name)
		e.line = append(e.line, "null"...)
	case e.has(when, v == 0) && (when != fields.IfCame || v > 0):
		e.key(name)
		e.line = strconv.AppendInt(e.line, v, 10)
	}
}

func (e *encoder) Int(name string, p *int, when fields.When) { e.number(name, int64(*p), when) }

func (e *encoder) Duration(name string, p *time.Duration, when fields.When) {
	e.number(name, int64(*p), when)
}

func (e *encoder) Wall(name string, p *time.Time, when fields.When) {
	e.number(name, p.UnixNano(), when)
}

func (e *encoder) Flag(name string, p *bool, when fields.When) {
	if e.has(when, !*p) {
		e.key(name)
		e.line = strconv.AppendBool(e.line, *p)
	}
}

// Text appends a string. It replaces bytes that are not UTF-8.
func (e *encoder) Text(name string, p *string, when fields.When) {
	if e.has(when, *p == "") {
		e.key(name)
		e.line, _ = jsontext.AppendQuote(e.line, *p) // the error only reports that bytes were replaced
	}
}

func (e *encoder) Word(name string, p *string, when fields.When) { e.Text(name, p, when) }

func (e *encoder) Error(name string, p *error, when fields.When) {
	if *p != nil {
		text := (*p).Error()
		e.Text(name, &text, when)
	}
}

func (e *encoder) Durations(name string, p *[]time.Duration, when fields.When) {
	list(e, name, *p, when)
}

func (e *encoder) Counts(name string, p *[]int32, when fields.When) { list(e, name, *p, when) }

func list[T ~int64 | ~int32](e *encoder, name string, all []T, when fields.When) {
	if e.has(when, len(all) == 0) {
		e.key(name)
		e.line = appendList(e.line, all)
	}
}

// Merged appends an array of three numbers for each group of deltas: Delta, Deltas and Since.
func (e *encoder) Merged(name string, p *[]sample.Merged, when fields.When) {
	if !e.has(when, len(*p) == 0) {
		return
	}
	e.key(name)
	before := byte('[')
	for _, m := range *p {
		e.line = appendList(append(e.line, before), []int64{int64(m.Delta), int64(m.Deltas), int64(m.Since)})
		before = ','
	}
	e.line = append(e.line, ']')
}

// Fields appends an object with a member for each field.
func (e *encoder) Fields(name string, p *[]sample.Field, when fields.When) {
	if !e.has(when, len(*p) == 0) {
		return
	}
	e.key(name)
	e.line = append(e.line, '{')
	for _, f := range *p {
		e.Text(f.Name, &f.Value, fields.Always)
	}
	e.line = append(e.line, '}')
}

// ToolCalls appends two strings: the names of all calls, and their arguments.
func (e *encoder) ToolCalls(names, arguments string, p *[]sample.ToolCall, when fields.When) {
	if len(*p) > 0 {
		a := sample.Answer{ToolCalls: *p}
		name, argument := a.ToolNames(), a.Arguments()
		e.Text(names, &name, when)
		e.Text(arguments, &argument, when)
	}
}

func (e *encoder) Open(name string, set bool) bool {
	if !set || name == "" {
		return false
	}
	e.key(name)
	e.line = append(e.line, '{')
	return true
}

func (e *encoder) Close() { e.line = append(e.line, '}') }

// appendList appends an array of numbers.
func appendList[T ~int64 | ~int32](line []byte, all []T) []byte {
	line = append(line, '[')
	for i, v := range all {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendInt(line, int64(v), 10)
	}
	return append(line, ']')
}
