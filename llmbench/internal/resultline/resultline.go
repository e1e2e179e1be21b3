// Package resultline edits the lines of benchmark results while the testing package writes them.
//
// The testing package sorts the figures of a line by the names of their units, and has no
// function that changes this. It writes each line to the field w of a [testing.B], in two parts:
// the name of the benchmark, and the figures. [Attach] replaces this writer. All happens in the
// goroutine that writes, nothing is kept beyond the end of a line, and what is no result passes
// through unchanged. So no line is lost or moved when the process dies, and the output may go
// anywhere.
//
// The field is not part of the API of the testing package. Attach checks its name and its type, and
// changes nothing if a version of Go has another one.
package resultline

import (
	"bytes"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// A Line is the line of a result.
type Line struct {
	Name    string // of the benchmark, with the number of CPUs at its end
	Figures []Figure
	Drop    bool // the line is not written
}

// A Figure is a value of a result with its unit.
type Figure struct {
	Unit  string
	Value float64
	text  string // both, as the testing package wrote them
}

// An Editor may change the order of the figures of a line, leave some out, or drop the line, before the line is written. It returns
// the lines that are written before, each with its newline.
type Editor func(*Line) (before string)

// Attach has edit called with each line of b, of later -count samples of b, and of benchmarks that
// b runs from now on. Only the goroutine of the benchmark may call Attach. It reports whether it
// could. If an Editor is attached already, that one stays.
func Attach(b *testing.B, edit Editor) bool {
	// The named field is that of the embedded struct that T and B have in common.
	field := reflect.ValueOf(b).Elem().FieldByName("w")
	if !field.IsValid() || field.Type() != reflect.TypeFor[io.Writer]() {
		return false
	}
	w := (*io.Writer)(unsafe.Pointer(field.UnsafeAddr()))
	if *w == nil {
		return false
	}
	if _, attached := (*w).(*writer); !attached {
		*w = &writer{to: *w, edit: edit}
	}
	return true
}

// A writer edits the lines of results on their way to another writer.
type writer struct {
	to   io.Writer
	edit Editor

	mu   sync.Mutex
	name []byte // the beginning of a line that is not written yet
}

var (
	nameOfLine    = regexp.MustCompile(`^Benchmark\S* *\t$`)
	figuresOfLine = regexp.MustCompile(`^ *[0-9]+(\t[^\t\n]+)*\n$`)
)

// Write writes p. It keeps the name of a benchmark until the next call, so that the line of a
// result is written at once.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	switch {
	case w.name == nil && nameOfLine.Match(p):
		w.name = bytes.Clone(p)
		return len(p), nil
	case w.name != nil:
		name := w.name
		w.name = nil
		text = w.line(name, p)
	}
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// line returns what is written for a name and what came after it.
func (w *writer) line(name, rest []byte) []byte {
	if !figuresOfLine.Match(rest) {
		return append(name, rest...)
	}
	parts := strings.Split(strings.TrimSuffix(string(rest), "\n"), "\t")
	line := Line{Name: strings.TrimSpace(string(name))}
	for _, part := range parts[1:] {
		fields := strings.Fields(part)
		if len(fields) != 2 {
			return append(name, rest...)
		}
		v, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return append(name, rest...)
		}
		line.Figures = append(line.Figures, Figure{Unit: fields[1], Value: v, text: part})
	}
	var b bytes.Buffer
	b.WriteString(w.edit(&line))
	if line.Drop {
		return b.Bytes()
	}
	b.Write(name)
	b.WriteString(parts[0])
	for _, f := range line.Figures {
		b.WriteString("\t" + f.text)
	}
	b.WriteString("\n")
	return b.Bytes()
}
