// Package resultline edits the lines of benchmark results while the testing package writes them.
//
// The testing package sorts the metrics of a line by the names of their units. There is no function to
// change this. It writes each line to the field w of a [testing.B], in two parts: the name of the
// benchmark, and the metrics. [Attach] replaces the writer in this field. The new writer works in the
// goroutine that writes, keeps nothing beyond the end of a line, and passes on what is not a result, without
// the secrets of this process. So no line is lost or moved if the process dies, and the output may go anywhere.
//
// The field is not part of the API of the testing package. Attach checks its name and its type. It changes
// nothing if they are different in a version of Go.
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

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Line is one line of results.
type Line struct {
	Name    string // name of the benchmark, followed by the number of CPUs
	Figures []Figure
	Drop    bool // the line must not be written
}

// A Figure is a value with its unit.
type Figure struct {
	Unit  string
	Value float64
	text  string // value and unit, as the testing package wrote them
}

// An Editor may change the order of a line's metrics, remove metrics, or drop the line, before the line is
// written. It returns lines to be written before this line, each with its newline.
type Editor func(*Line) (before string)

// Attach arranges that edit is called with each result line of b, of later -count samples of b, and of
// benchmarks that b runs from now on. If such a benchmark fails, failed is called with its name, as in a line of
// results, and its log. If a line cannot be written, lost is called with the error: the testing package ignores
// such errors. Only the goroutine of the benchmark may call Attach. Attach reports
// whether this is possible. If there already is an Editor, Attach keeps it.
func Attach(b *testing.B, edit Editor, failed func(name, log string), lost func(error)) bool {
	// The field w is in the struct that T and B embed.
	field := reflect.ValueOf(b).Elem().FieldByName("w")
	if !field.IsValid() || field.Type() != reflect.TypeFor[io.Writer]() {
		return false
	}
	w := (*io.Writer)(unsafe.Pointer(field.UnsafeAddr()))
	if *w == nil {
		return false
	}
	if _, attached := (*w).(*writer); !attached {
		*w = &writer{to: *w, edit: edit, failed: failed, lost: lost}
	}
	return true
}

// A writer edits the lines of results, and writes them to another writer.
type writer struct {
	to     io.Writer
	edit   Editor
	failed func(name, log string)
	lost   func(error)

	mu   sync.Mutex
	name []byte // the beginning of a line that has not been written yet
}

var (
	nameOfLine    = regexp.MustCompile(`^Benchmark\S* *\t$`)
	failure       = regexp.MustCompile(`(?s)^[^\n]*--- FAIL: (Benchmark\S*)\n(.*)$`)
	figuresOfLine = regexp.MustCompile(`^ *[0-9]+(\t[^\t\n]+)*\n$`)
)

// Write writes p. It keeps the name of a benchmark until the next call, so that a result line is written in
// one piece.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if m := failure.FindSubmatch(p); m != nil {
		w.failed(string(m[1]), string(m[2]))
	}
	switch {
	case w.name == nil && nameOfLine.Match(p):
		w.name = bytes.Clone(p)
		return len(p), nil
	case w.name != nil:
		name := w.name
		w.name = nil
		text = w.line(name, p)
	default:
		text = withoutSecrets(p)
	}
	if _, err := w.to.Write(text); err != nil {
		w.lost(err)
		return 0, err
	}
	return len(p), nil
}

// withoutSecrets returns text without the secrets of this process.
func withoutSecrets(text []byte) []byte { return []byte(redact.Known().Remove(string(text))) }

// line returns what to write for a benchmark's name and the text after it.
func (w *writer) line(name, rest []byte) []byte {
	iterations, figures, ok := parse(rest)
	if !ok {
		return withoutSecrets(append(name, rest...))
	}
	line := Line{Name: strings.TrimSpace(string(name)), Figures: figures}
	var b bytes.Buffer
	b.Write(withoutSecrets([]byte(w.edit(&line))))
	if line.Drop {
		return b.Bytes()
	}
	b.Write(withoutSecrets(name)) // a figure is no secret, even if it has the same digits
	b.WriteString(iterations)
	for _, f := range line.Figures {
		b.WriteString("\t" + f.text)
	}
	b.WriteString("\n")
	return b.Bytes()
}

// parse reads what follows the name in a line of results: the number of iterations and the figures. It returns
// false if the text is not the rest of such a line.
func parse(rest []byte) (iterations string, figures []Figure, ok bool) {
	if !figuresOfLine.Match(rest) {
		return "", nil, false
	}
	parts := strings.Split(strings.TrimSuffix(string(rest), "\n"), "\t")
	for _, part := range parts[1:] {
		fields := strings.Fields(part)
		if len(fields) != 2 {
			return "", nil, false
		}
		v, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return "", nil, false
		}
		figures = append(figures, Figure{Unit: fields[1], Value: v, text: part})
	}
	return parts[0], figures, true
}
