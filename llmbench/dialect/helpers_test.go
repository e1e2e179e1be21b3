package dialect

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// read is the result of reading a whole answer, as a client sees it.
type read struct {
	Text, Reasoning, ToolCall string
	ToolName                  string
	Finish, Fault             string
	Usage                     Usage
	Timings                   Timings
	Chunks, Tokens            int
	Done                      bool
	UnknownFinish             bool
	Unread, Strange           string
	Err                       string // the first error of an event, or else the error of End
	truncated                 bool   // Err wraps ErrTruncated
}

// end classifies the end of the answer.
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

// readAll reads a stream as a client does. It reads but ignores events after the end marker. It uses the
// last counts and timings.
func readAll(p Parser, format sse.Format, body io.Reader) read {
	dec := sse.NewDecoder(body)
	dec.Format = format
	return readFrames(p, dec)
}

// readFrames is like readAll, for a stream that dec splits into events.
func readFrames(p Parser, dec Decoder) read {
	var r read
	var d Delta
	p.Reset()
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
	r.UnknownFinish = r.UnknownFinish || d.UnknownFinish
	if r.Unread == "" {
		r.Unread = d.Unread
	}
	if d.Strange != "" {
		r.Strange = d.Strange
	}
	if d.Fault != "" && r.Fault == "" {
		r.Fault = d.Fault
	}
	last(&r.Usage.PromptTokens, d.Usage.PromptTokens)
	last(&r.Usage.OutputTokens, d.Usage.OutputTokens)
	last(&r.Usage.CachedTokens, d.Usage.CachedTokens)
	last(&r.Usage.ReasoningTokens, d.Usage.ReasoningTokens)
	if d.Timings != (Timings{}) {
		r.Timings = d.Timings
	}
}

// last sets *to to a count that the server reported.
func last(to *int, stated int) {
	if stated != 0 {
		*to = stated
	}
}

// A streamTest is the body of a streamed answer and the result of reading it.
type streamTest struct {
	name, body string
	want       read
}

// testStreams reads each body in every way, with the same parser.
func testStreams(t *testing.T, d Dialect, tests []streamTest) {
	p := d.NewParser()
	for _, c := range tests {
		for how, src := range everyWay([]byte(c.body)) {
			got := readAll(p, sse.Auto, src)
			c.want.truncated = got.truncated // Err has it
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(read{})); diff != "" {
				t.Errorf("%s, %s: %q mismatch (-want +got):\n%s", c.name, how, c.body, diff)
			}
		}
	}
}

// everyWay returns readers that split body in different ways.
func everyWay(body []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":        bytes.NewReader(body),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
		"by halves":    iotest.HalfReader(bytes.NewReader(body)),
		"EOF at once":  iotest.DataErrReader(bytes.NewReader(body)),
	}
}

// A bodyTest is an answer that was not streamed and the result of reading it.
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

// extraCases returns a file of the folder LLMBENCH_EXTRA_CASES. It has streams and cases that were
// collected from many servers, and that are not part of this repository. Without this folder, the test is
// skipped.
func extraCases(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(extracases.Path(t, name))
	assert.NilError(t, err)
	return text
}
