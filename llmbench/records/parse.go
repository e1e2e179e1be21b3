package records

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// outcomes and sources are the words that the format allows.
var (
	outcomes = []sample.Outcome{sample.OK, sample.Connect, sample.HTTP, sample.Timeout, sample.Stalled, sample.Truncated,
		sample.ServerError, sample.Empty, sample.Malformed, sample.Canceled, sample.Left, sample.Shed}
	sources = []sample.TokenSource{sample.FromUsage, sample.FromEvents, sample.FromTokenizer, sample.FromDeltas, sample.FromNothing, sample.Contradicted, sample.NoOutput, ""}
)

// A parser parses the lines of a block.
type parser struct {
	head *Head
	line *line
}

func newParser(h *Head) *parser { return &parser{h, newLine()} }

// request parses the line with the given number.
func (p *parser) request(text []byte, number int) (Request, error) {
	l := p.line
	if err := l.read(text, number); err != nil {
		return Request{}, fmt.Errorf("want a request's record: %w", err)
	}
	s := &l.sample
	switch {
	case !l.has("id") || !l.has("due_ns") || !l.has("start_ns") || !l.has("end_ns"):
		return Request{}, errors.New("want a request's record, with id, due_ns, start_ns and end_ns")
	case !slices.Contains(outcomes, s.Outcome):
		return Request{}, fmt.Errorf("outcome %.100q: not one that llmbench writes", s.Outcome)
	case !slices.Contains(sources, s.TokenSource):
		return Request{}, fmt.Errorf("token_source %.100q: not one that llmbench writes", s.TokenSource)
	}
	if l.fault != nil {
		return Request{}, l.fault
	}
	if err := p.complete(); err != nil {
		return Request{}, err
	}
	q := l.request()
	return q, q.check()
}

// complete sets the fields whose values follow from other fields or from the Head.
func (p *parser) complete() error {
	l, s := p.line, &p.line.sample
	s.Streamed, s.Scheduled, s.Checked = p.head.Stream, s.Scheduled || s.Turn == 0 && p.head.Concurrency == 0, l.has("correct")
	if !s.Checked {
		s.Wrong = ""
	}
	if !l.has("events") {
		s.Events = -1
	}
	if l.has("first_ns") {
		s.Deltas = l.gaps.len() + 1
	}
	if !l.has("outputs") {
		s.Outputs, s.FirstOutput = s.Deltas, s.First
		return nil
	}
	if s.Outputs > s.Deltas || (s.Outputs > 0) != l.has("first_output_ns") {
		return fmt.Errorf("outputs %d of %d deltas: want at most the number of deltas, and first_output_ns unless outputs is 0", s.Outputs, s.Deltas)
	}
	return nil
}

// A block is what a parser reads in successive lines after the first line of a file.
type block struct {
	all  []Request
	end  *End
	line int // the number of the first line, or of the wrong line if err is set
	err  error
}

// block parses text, which consists of complete lines. The argument number is the number of the first line.
// Only the last line may be the line about the end.
func (p *parser) block(text []byte, number int) block {
	b := block{all: make([]Request, 0, bytes.Count(text, []byte("\n"))), line: number}
	for l := range bytes.Lines(text) {
		if b.err = p.add(&b, l, number); b.err != nil {
			b.line = number
			break
		}
		number++
	}
	return b
}

// add parses the next line of a block.
func (p *parser) add(b *block, line []byte, number int) (err error) {
	line = bytes.TrimRight(line, "\r\n")
	if b.end != nil {
		return errAfter
	}
	if bytes.HasPrefix(line, []byte(`{"end":`)) {
		b.end, err = parseEnd(line)
		return err
	}
	q, err := p.request(line, number)
	b.all = append(b.all, q)
	return err
}

// checkPass returns an error unless a request of a pass may follow a request of the pass before, which is -1 if
// the request is the first one.
func checkPass(pass, before int32) error {
	if pass != before && pass != before+1 {
		return fmt.Errorf("pass %d after pass %d: want passes one after another, from 0", pass, max(0, before))
	}
	return nil
}
