package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Run is the contents of a file of records: the requests of one sample of a benchmark, pass after pass.
type Run struct {
	Name string // name of the file
	Head Head
	End  *End // nil if the file has no line about the end
	// Cut says that the last line was incomplete, and that it was ignored. The process was killed or is
	// still writing.
	Cut bool

	blocks [][]Request
	n      int

	once  sync.Once
	known sample.Summary
}

// Len returns the number of requests.
func (r *Run) Len() int { return r.n }

// All returns the requests in the order of the file.
func (r *Run) All() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for _, b := range r.blocks {
			for i := range b {
				if !yield(&b[i]) {
					return
				}
			}
		}
	}
}

// Measured returns the requests that did not begin in a warm-up that is part of their pass.
func (r *Run) Measured() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for q := range r.All() {
			if r.Head.Measures(q) && !yield(q) {
				return
			}
		}
	}
}

// Passes returns the number of passes.
func (r *Run) Passes() int {
	if r.n == 0 {
		return 0
	}
	last := r.blocks[len(r.blocks)-1]
	return int(last[len(last)-1].Pass) + 1
}

// Pass returns the requests of a pass. Passes count from 0.
func (r *Run) Pass(pass int) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for q := range r.All() {
			if int(q.Pass) == pass && !yield(q) {
				return
			}
		}
	}
}

// blockSize is the number of bytes that are read at once, and maxLine is the maximum length of a line in
// bytes. They are variables so that tests can change them.
var (
	blockSize = 1 << 20
	maxLine   = 64 << 20
)

// Open reads the file at path.
func Open(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads r to its end. Errors refer to the file as name. If the file was cut off somewhere after its
// first line, Read returns the complete lines. It parses blocks of lines concurrently.
func Read(r io.Reader, name string) (*Run, error) {
	run := &Run{Name: name}
	b := &blocks{r: r, line: 1}
	_, head, err := readHead(b, name)
	if err != nil {
		return nil, err
	}
	run.Head = head
	parsers := sync.Pool{New: func() any { return newParser(&run.Head) }}
	var pending []chan block
	take := func() error {
		p := <-pending[0]
		pending = pending[1:]
		if p.err != nil {
			return at(name, p.line, p.err)
		}
		if run.End != nil {
			return at(name, p.line, errAfter)
		}
		run.End = p.end
		return run.add(p.all)
	}
	defer func() {
		for _, c := range pending { // wait for every parser
			<-c
		}
	}()
	for {
		text, line, err := b.next(false)
		if err != nil {
			for len(pending) > 0 { // an error in an earlier line explains more
				if err := take(); err != nil {
					return nil, err
				}
			}
			if err == io.EOF {
				run.Cut = b.cut
				return run, nil
			}
			return nil, at(name, line, err)
		}
		c := make(chan block, 1)
		pending = append(pending, c)
		go func() {
			p := parsers.Get().(*parser)
			defer parsers.Put(p)
			c <- p.block(text, line)
		}()
		if len(pending) > runtime.GOMAXPROCS(0) {
			if err := take(); err != nil {
				return nil, err
			}
		}
	}
}

// ReadHead reads the first line of r. Errors refer to the file as name. The reader that ReadHead returns
// yields the whole file again, so that a program can examine the benchmark before it reads the requests.
func ReadHead(r io.Reader, name string) (Head, io.Reader, error) {
	b := &blocks{r: r, line: 1}
	text, head, err := readHead(b, name)
	return head, io.MultiReader(bytes.NewReader(text), bytes.NewReader(b.rest), r), err
}

// readHead reads the first line.
func readHead(b *blocks, name string) (text []byte, h Head, err error) {
	text, line, err := b.next(true)
	switch {
	case err == io.EOF && b.cut:
		return nil, h, at(name, line, errors.New("the line about the benchmark was cut, so nothing can be read"))
	case err == io.EOF:
		return nil, h, fmt.Errorf("%s: empty: want the line about the benchmark", name)
	}
	if err != nil {
		return nil, h, at(name, line, err)
	}
	if h, err = parseHead(bytes.TrimRight(text, "\r\n")); err != nil {
		return nil, h, at(name, 1, err)
	}
	return text, h, nil
}

// add appends the requests of the next block of lines.
func (r *Run) add(all []Request) error {
	if len(all) == 0 {
		return nil
	}
	pass := int32(-1)
	if r.n > 0 {
		last := r.blocks[len(r.blocks)-1]
		pass = last[len(last)-1].Pass
	}
	for i := range all {
		if err := checkPass(all[i].Pass, pass); err != nil {
			return at(r.Name, int(all[i].Line), err)
		}
		pass = all[i].Pass
	}
	r.blocks, r.n = append(r.blocks, all), r.n+len(all)
	return nil
}

// at adds the name of the file and the number of the line to err.
func at(name string, line int, err error) error { return fmt.Errorf("%s:%d: %w", name, line, err) }

// blocks splits a file into blocks of whole lines.
type blocks struct {
	r    io.Reader
	rest []byte // text that was read but not returned yet
	line int    // number of the next line
	err  error  // error from r
	cut  bool   // the last line was incomplete
}

// next returns a block of whole lines, or a single line if one is true, and the number of the first line.
// At the end of the file it returns the error io.EOF. If the last line has no line end, next returns it
// only if it is not unfinished.
func (b *blocks) next(one bool) (text []byte, line int, err error) {
	for {
		end := bytes.LastIndexByte(b.rest, '\n')
		if one {
			end = bytes.IndexByte(b.rest, '\n')
		}
		if end >= 0 {
			text, line = b.rest[:end+1], b.line
			b.line += bytes.Count(text, []byte("\n"))
			b.rest = b.rest[end+1:]
			return text, line, nil
		}
		switch {
		case b.err == io.EOF && len(b.rest) > 0 && !unfinished(b.rest):
			text, line, b.rest = b.rest, b.line, nil
			return text, line, nil
		case b.err != nil:
			b.cut = b.err == io.EOF && len(b.rest) > 0
			return nil, b.line, b.err
		case len(b.rest) > maxLine:
			return nil, b.line, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		buf := make([]byte, len(b.rest), len(b.rest)+blockSize) // a new buffer, because the old block is still being parsed
		copy(buf, b.rest)
		n, err := io.ReadFull(b.r, buf[len(buf):cap(buf)])
		b.rest = buf[:len(buf)+n]
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		b.err = err
	}
}

// unfinished reports whether a line is the beginning of a JSON object. A process that is killed leaves such
// a line. Any other line that is not JSON was not written by llmbench.
func unfinished(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r")
	if len(line) == 0 || line[0] != '{' {
		return len(line) == 0
	}
	_, err := jsontext.NewDecoder(bytes.NewReader(line)).ReadValue()
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// Elapsed returns the sum of the durations of the passes, as [sample.Elapsed] does.
func (r *Run) Elapsed() time.Duration {
	var total time.Duration
	for pass := range r.elapsed() {
		total += pass
	}
	return total
}

// elapsed returns the duration of each pass.
func (r *Run) elapsed() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var from, to time.Duration
		duration := func() time.Duration {
			if until := r.Head.until(); until > 0 {
				if to > r.Head.WarmupFor && slices.ContainsFunc(r.Head.Classes, func(c Class) bool { return c.Arrivals != nil }) {
					return r.Head.Duration
				}
				to = min(to, until)
			}
			return max(0, to-max(from, r.Head.WarmupFor))
		}
		pass := int32(-1)
		for q := range r.All() {
			if q.Pass != pass {
				if pass >= 0 && !yield(duration()) {
					return
				}
				pass, from, to = q.Pass, q.Due, q.End
			}
			from, to = min(from, q.Due), max(to, q.End)
		}
		if pass >= 0 {
			yield(duration())
		}
	}
}
