package dialect

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// read is what a client makes of a whole stream.
type read struct {
	Text, Reasoning, ToolCall string
	ToolName                  string
	Finish, Fault             string
	Usage                     Usage
	Timings                   Timings
	Chunks, Tokens            int
	Done                      bool
	Err                       string // of the first event that had one, or of the end
	truncated                 bool   // that is what Err says
}

// end is the verdict: an answer is clean only if it is none of the others.
func (r read) end() string {
	switch {
	case r.Fault != "":
		return "error"
	case r.truncated:
		return "incomplete"
	case r.Err != "":
		return "malformed"
	}
	return "clean"
}

// readAll reads a stream as a client does: what comes after the end marker is
// read and not used, and counts and timings are the last ones stated.
func readAll(p Parser, format sse.Format, body io.Reader) read {
	var r read
	var d Delta
	p.Reset()
	dec := sse.NewDecoder(body)
	dec.Format = format
	fail := func(err error) {
		if err != nil && r.Err == "" {
			r.Err, r.truncated = err.Error(), errors.Is(err, ErrTruncated)
		}
	}
	for {
		e, err := dec.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			r.Err, r.truncated = err.Error(), true
			return r
		}
		if r.Done {
			continue
		}
		fail(p.Event(e, &d))
		r.add(&d)
	}
	fail(p.End())
	return r
}

func (r *read) add(d *Delta) {
	r.Text += string(d.Text)
	r.Reasoning += string(d.Reasoning)
	r.ToolCall += string(d.ToolCall)
	r.ToolName = string(AppendName([]byte(r.ToolName), d.ToolName))
	r.Chunks += d.Chunks
	r.Tokens += d.Tokens
	r.Done = r.Done || d.Done
	if d.Finish != "" {
		r.Finish = d.Finish
	}
	if d.Fault != "" && r.Fault == "" {
		r.Fault = d.Fault
	}
	last(&r.Usage.PromptTokens, d.Usage.PromptTokens)
	last(&r.Usage.OutputTokens, d.Usage.OutputTokens)
	last(&r.Usage.CachedTokens, d.Usage.CachedTokens)
	if d.Timings != (Timings{}) {
		r.Timings = d.Timings
	}
}

func last(to *int, stated int) {
	if stated != 0 {
		*to = stated
	}
}

// A streamTest is a body of a stream and what a client makes of it.
type streamTest struct {
	name, body string
	want       read
}

// testStreams reads each body whole, byte by byte and by halves, with one
// parser.
func testStreams(t *testing.T, d Dialect, tests []streamTest) {
	p := d.NewParser()
	for _, c := range tests {
		for how, src := range everyWay([]byte(c.body)) {
			got := readAll(p, sse.Auto, src)
			c.want.truncated = got.truncated // is in Err
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(read{})); diff != "" {
				t.Errorf("%s, %s: %q mismatch (-want +got):\n%s", c.name, how, c.body, diff)
			}
		}
	}
}

func everyWay(body []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":        bytes.NewReader(body),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
		"by halves":    iotest.HalfReader(bytes.NewReader(body)),
		"EOF at once":  iotest.DataErrReader(bytes.NewReader(body)),
	}
}

// A bodyTest is a whole answer and what a client makes of it.
type bodyTest struct {
	name, body string
	want       read
}

func testBodies(t *testing.T, d Dialect, tests []bodyTest) {
	p := d.NewParser()
	for _, c := range tests {
		var got read
		var delta Delta
		p.Reset()
		if err := p.Body([]byte(c.body), &delta); err != nil {
			got.Err = err.Error()
		}
		got.add(&delta)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(read{})); diff != "" {
			t.Errorf("%s: %s mismatch (-want +got):\n%s", c.name, c.body, diff)
		}
	}
}

// shared returns a file of the collection of streams and cases that the
// project was built beside. It is no part of the project.
func shared(t *testing.T, name string) []byte {
	text, err := os.ReadFile(filepath.Join("../../../shared", name))
	if err != nil {
		t.Skipf("the collected streams are not here (%v); the tables of each dialect cover what servers do without them", err)
	}
	return text
}
