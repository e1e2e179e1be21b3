package store

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/fields"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A codec writes a sample to data, or reads a sample from data. It is a visitor of the fields of a sample.
// The same methods write and read, so that the fields are read in the same order as they were written.
type codec struct {
	data    []byte
	reading bool
	bad     bool              // a codec did not write the data that is read
	words   map[string]string // texts that many samples have in common, so that each is in memory once
	spare   []time.Duration   // array for the lists of the sample that is read
}

// errForeign is the error about data that is not an encoded sample.
var errForeign = errors.New("the file is not as it was written")

// encode returns the encoded form of s. The result is valid until the next call.
func (c *codec) encode(s *sample.Sample) []byte {
	c.data = c.data[:0]
	c.int(int64(len(s.Gaps) + len(s.Lags)))
	fields.Visit(s, c)
	return c.data
}

// decode sets s to the sample that encode has encoded. s must be the zero value. decode does not keep data.
func (c *codec) decode(data []byte, s *sample.Sample) error {
	c.data, c.bad, c.spare = data, false, nil
	if n := c.length(0); n > 0 {
		c.spare = make([]time.Duration, n)
	}
	fields.Visit(s, c)
	if c.bad || len(c.data) > 0 || len(c.spare) > 0 {
		return errForeign
	}
	return nil
}

// int writes or reads a whole number.
func (c *codec) int(v int64) int64 {
	if !c.reading {
		c.data = binary.AppendVarint(c.data, v)
		return v
	}
	v, n := binary.Varint(c.data)
	if n <= 0 {
		c.data, c.bad = nil, true
		return 0
	}
	c.data = c.data[n:]
	return v
}

// flag writes or reads a boolean.
func (c *codec) flag(v bool) bool {
	var n int64
	if v {
		n = 1
	}
	return c.int(n) == 1
}

// length writes or reads the number of elements that follow. Each of them has at least one byte.
func (c *codec) length(n int) int {
	n = int(c.int(int64(n)))
	if c.reading && (n < 0 || n > len(c.data)) {
		c.data, c.bad = nil, true
		return 0
	}
	return n
}

// bytes writes text, or reads the bytes of a text. The result shares memory with data.
func (c *codec) bytes(text string) []byte {
	n := c.length(len(text))
	if !c.reading {
		c.data = append(c.data, text...)
		return nil
	}
	read := c.data[:n]
	c.data = c.data[n:]
	return read
}

func (c *codec) Int(_ string, p *int, _ fields.When)   { *p = int(c.int(int64(*p))) }
func (c *codec) Flag(_ string, p *bool, _ fields.When) { *p = c.flag(*p) }
func (c *codec) Open(_ string, set bool) bool          { return c.flag(set) }
func (c *codec) Close()                                {}

func (c *codec) Duration(_ string, p *time.Duration, _ fields.When) {
	*p = time.Duration(c.int(int64(*p)))
}

func (c *codec) Text(_ string, p *string, _ fields.When) {
	if read := c.bytes(*p); c.reading {
		*p = string(read)
	}
}

func (c *codec) Word(_ string, p *string, _ fields.When) {
	read := c.bytes(*p)
	if !c.reading {
		return
	}
	known, ok := c.words[string(read)]
	if !ok {
		known = string(read)
		if len(c.words) < 1<<12 {
			c.words[known] = known
		}
	}
	*p = known
}

// Wall writes or reads an instant of the wall clock. The zero instant means that there is none.
func (c *codec) Wall(_ string, p *time.Time, _ fields.When) {
	if !c.flag(!p.IsZero()) {
		return
	}
	if n := c.int(p.UnixNano()); c.reading {
		*p = time.Unix(0, n)
	}
}

// Error writes or reads an error. Only the text of the error is preserved.
func (c *codec) Error(_ string, p *error, _ fields.When) {
	if !c.flag(*p != nil) {
		return
	}
	text := ""
	if !c.reading {
		text = (*p).Error()
	}
	if read := c.bytes(text); c.reading {
		*p = errors.New(string(read))
	}
}

// Durations writes or reads a list of durations. When a sample is read, its lists share an array, and an
// empty list becomes nil.
func (c *codec) Durations(_ string, p *[]time.Duration, _ fields.When) {
	n := c.length(len(*p))
	if !c.reading {
		for _, d := range *p {
			c.data = binary.AppendVarint(c.data, int64(d))
		}
		return
	}
	if n > len(c.spare) {
		c.data, c.bad = nil, true
		return
	}
	if n == 0 {
		return
	}
	*p, c.spare = c.spare[:n:n], c.spare[n:]
	for i := range *p {
		(*p)[i] = time.Duration(c.int(0))
	}
}

// list writes or reads the number of elements of a list, and returns the list. When a sample is read, the
// list has zero values, and an empty list becomes nil.
func list[T any](c *codec, p *[]T) []T {
	if n := c.length(len(*p)); c.reading && n > 0 {
		*p = make([]T, n)
	}
	return *p
}

// Counts writes or reads a list of numbers.
func (c *codec) Counts(_ string, p *[]int32, _ fields.When) {
	for i, v := range list(c, p) {
		(*p)[i] = int32(c.int(int64(v)))
	}
}

// ToolCalls writes or reads the tool calls of an answer.
func (c *codec) ToolCalls(_, _ string, p *[]sample.ToolCall, when fields.When) {
	for i := range list(c, p) {
		c.Text("", &(*p)[i].Name, when)
		c.Text("", &(*p)[i].Arguments, when)
	}
}

// Fields writes or reads the fields of a header.
func (c *codec) Fields(_ string, p *[]sample.Field, when fields.When) {
	for i := range list(c, p) {
		c.Word("", &(*p)[i].Name, when)
		c.Word("", &(*p)[i].Value, when)
	}
}

// Merged writes or reads a list of deltas whose exact instants are unknown. It is nearly always empty.
func (c *codec) Merged(_ string, p *[]sample.Merged, _ fields.When) {
	for i := range list(c, p) {
		m := &(*p)[i]
		m.Delta, m.Deltas, m.Since = int(c.int(int64(m.Delta))), int(c.int(int64(m.Deltas))), time.Duration(c.int(int64(m.Since)))
	}
}
