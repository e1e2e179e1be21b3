package send

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestLimits checks each limit of what a server may send: an answer at the limit is read, and an answer with one
// byte more fails.
func TestLimits(t *testing.T) {
	const rest = content + finish + usage + done
	x := func(n int) string { return strings.Repeat("x", n) }
	whole := func(text string) string {
		return `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"completion_tokens":1},"x":"` + text + `"}`
	}
	for _, c := range []struct {
		name string
		most int
		body func(n int) string // a stream
		want string             // the error of one byte more
	}{
		{"type of an event", maxField, func(n int) string { return "event: " + x(n) + "\n" + rest }, "the type of an event has 65537 bytes: want at most 65536"},
		{"ID of an event", maxField, func(n int) string { return "id: " + x(n) + "\n" + rest }, "the ID of an event has 65537 bytes: want at most 65536"},
		{"one name of a tool", maxNames, func(n int) string { return toolName(x(n)) + rest }, "the names of tools in the answer have 65537 bytes: want at most 65536"},
		{"all names of tools", maxNames, func(n int) string { return strings.Repeat(toolName("x"), n-1000) + toolName(x(1000)) + rest }, "the names of tools in the answer have 65537 bytes: want at most 65536"},
		{"body", maxBody, func(n int) string { return whole(x(n - len(whole("")))) }, fmt.Sprintf("the body of the answer has more than %d bytes", maxBody)},
	} {
		if testing.Short() && c.most > 1<<20 {
			continue
		}
		for _, n := range []int{c.most, c.most + 1} {
			kind, stream := "text/event-stream", true
			if c.name == "body" {
				kind, stream = "application/json", false
			}
			w, p := newTestWorker(t, reply{200, ofType(kind), c.body(n)}, Options{Stream: stream, KeepText: true})
			s := w.Do(t.Context(), p, 0, false)
			if n == c.most {
				assert.NilError(t, s.Err, c.name)
				continue
			}
			assert.Equal(t, s.Outcome, sample.Malformed, c.name)
			assert.Error(t, s.Err, c.want, c.name)
		}
	}
	assert.NilError(t, (&size{text: maxText, names: maxNames}).check())
	assert.Error(t, (&size{text: maxText + 1}).check(), fmt.Sprintf("the text of the answer has %d bytes: want at most %d", maxText+1, maxText))
	assert.NilError(t, tooManyDeltas(&sample.Sample{MaxTokens: 4}, 96))
	assert.Error(t, tooManyDeltas(&sample.Sample{MaxTokens: 4}, 97), "the events of the stream have 97 tokens: want at most 96 where 4 output tokens are allowed")
}

// toolName returns an event with the name of a tool.
func toolName(name string) string {
	return `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"` + name + `"}}]}}]}` + "\n\n"
}

// TestEndless reads streams without end. The client gives each of them up, and keeps little memory.
func TestEndless(t *testing.T) {
	large := strings.Repeat("x", 30<<10)
	for name, event := range map[string]string{
		"names of tools":     toolName(large),
		"arguments of tools": `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + large + `"}}]}}]}` + "\n\n",
		"reasoning":          chunk("reasoning_content", large),
		"text":               chunk("content", large),
		"short names":        toolName("x"),
		"an ID":              "id: " + large + large + large + "\ndata: {}\n\n",
		"a line":             large,
		"an event":           "data: " + large + "\n",
		"token ids":          `data: {"choices":[{"delta":{"content":""},"token_ids":[1` + strings.Repeat(",1", 1000) + `]}]}` + "\n\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read := 0
		w, p := newTestWorker(t, answering(func() io.ReadCloser { return io.NopCloser(&endless{text: event, read: &read}) }), Options{Stream: true, KeepText: true})
		s := w.Do(t.Context(), p, 0, true)
		runtime.ReadMemStats(&after)
		assert.Equal(t, s.Outcome, sample.Malformed, "%s: %v", name, s.Err)
		assert.Assert(t, read < 80<<20, "%s: read %d bytes", name, read)
		assert.Assert(t, after.HeapAlloc < before.HeapAlloc+256<<20, name)
		assert.Assert(t, len(s.Err.Error()) < 2*maxError, name)
	}
}

// An endless reader returns a text again and again.
type endless struct {
	text string
	at   int
	read *int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	*e.read += n
	return n, nil
}

// TestManyCalls checks that the arguments of an answer become a limited number of calls.
func TestManyCalls(t *testing.T) {
	calls := toolCalls("f", strings.Repeat("1 ", maxCalls))
	assert.Equal(t, len(calls), maxCalls)
	calls = toolCalls("f", strings.Repeat("1 ", 10*maxCalls))
	assert.Equal(t, len(calls), maxCalls)
	assert.Equal(t, len(calls[maxCalls-1].Arguments), 2*(9*maxCalls+1)+1)
}

// TestLongError checks that the error of a sample is cut, although it repeats a line of the server.
func TestLongError(t *testing.T) {
	w, p := newTestWorker(t, failing{fmt.Errorf("malformed HTTP response %q", strings.Repeat("x", 1<<20))}, Options{Stream: true})
	s := w.Do(t.Context(), p, 0, true)
	assert.Equal(t, s.Outcome, sample.Connect)
	assert.Equal(t, len(s.Err.Error()), maxError+len(redact.Cut))
}

// A failing round tripper always fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestLongEcho checks the limit of what a session sends back.
func TestLongEcho(t *testing.T) {
	for _, n := range []int{maxEcho, maxEcho + 1} {
		var e echo
		const name = "X-Session"
		err := e.keep([]string{name}, &http.Response{Header: http.Header{name: {strings.Repeat("x", n-len(name))}}})
		if n == maxEcho {
			assert.NilError(t, err)
			continue
		}
		assert.Error(t, err, "the header fields that the session has to send back have 65537 bytes: want at most 65536")
	}
	// Each turn may add a cookie.
	var e echo
	var err error
	for i := 0; err == nil; i++ {
		assert.Assert(t, i < 100)
		err = e.keep([]string{"Set-Cookie"}, &http.Response{Header: http.Header{"Set-Cookie": {fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 4000))}}})
	}
	assert.ErrorContains(t, err, "want at most 65536")
}
