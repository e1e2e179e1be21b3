package send

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// finishing returns an answer of the chat API with a finish reason and a number of output tokens, as a stream or as
// one document.
func finishing(stream bool, reason string, tokens int) *http.Response {
	kind, body := "text/event-stream", content+`data: {"choices":[{"delta":{},"finish_reason":`+reason+"}]}\n\n"+fmt.Sprintf(`data: {"choices":[],"usage":{"completion_tokens":%d}}`, tokens)+"\n\n"+done
	if !stream {
		kind, body = "application/json", fmt.Sprintf(`{"choices":[{"message":{"content":"hi"},"finish_reason":%s}],"usage":{"completion_tokens":%d}}`, reason, tokens)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
}

// TestUnknownFinish checks that an answer with an unknown finish reason fails if it has fewer tokens than the
// request asked for exactly, and only then.
func TestUnknownFinish(t *testing.T) {
	for _, c := range []struct {
		reason  string
		tokens  int
		fixed   bool
		unknown bool
		want    string // the failure of both forms of the answer, or ""
	}{
		{`"stop"`, 2, true, false, ""},
		{`"length"`, 4, true, false, ""},
		{`"bored"`, 4, true, true, ""},
		{`"bored"`, 2, true, true, `the finish reason "bored" is unknown, and the answer has 2 output tokens; the request asked for exactly 4`},
		{`"bored"`, 0, true, true, `the finish reason "bored" is unknown, and`},
		{`"bored"`, 2, false, true, ""},
		{`"insufficient_system_resource"`, 4, true, false, "finish reason insufficient_system_resource"},
		{`"network_error"`, 2, false, false, "finish reason network_error"},
		{`"timeout"`, 2, true, false, "finish reason timeout"},
	} {
		for _, stream := range []bool{true, false} {
			w, p := newTestWorker(t, roundTrip(func(*http.Request) (*http.Response, error) { return finishing(stream, c.reason, c.tokens), nil }), Options{Stream: stream})
			p.FixedOutput = c.fixed
			s := w.Do(t.Context(), p, 0, false)
			if c.want == "" {
				assert.NilError(t, s.Err, "%+v, stream %t", c, stream)
				assert.Equal(t, s.UnknownFinish, c.unknown, "%+v", c)
			} else {
				assert.ErrorContains(t, s.Err, c.want, "%+v, stream %t", c, stream)
			}
		}
	}
	// A finish reason that is null shows nothing, in a stream and in a document.
	for reason, want := range map[string]string{
		`"null"`: "the answer has no finish reason, and the answer has 2 output tokens; the request asked for exactly 4",
		`null`:   "the answer has no finish reason, and the answer has 2 output tokens; the request asked for exactly 4",
	} {
		w, p := newTestWorker(t, roundTrip(func(*http.Request) (*http.Response, error) { return finishing(false, reason, 2), nil }), Options{})
		assert.ErrorContains(t, w.Do(t.Context(), p, 0, false).Err, want)
		w, p = newTestWorker(t, roundTrip(func(*http.Request) (*http.Response, error) { return finishing(true, reason, 2), nil }), Options{Stream: true})
		assert.ErrorContains(t, w.Do(t.Context(), p, 0, false).Err, "[DONE] came before the finish reason")
	}
	// So does one of an end marker that has no reason.
	stopped := "data: {\"content\":\"hi\"}\n\n" + `data: {"content":"","stop":true,"stop_type":"none","tokens_predicted":2}` + "\n\n"
	lw, lp := newDialectWorker(t, dialect.LlamaCPP{}, answerer(stopped), Options{Stream: true})
	assert.ErrorContains(t, lw.Do(t.Context(), lp, 0, false).Err, "the answer has no finish reason, and the answer has 2 output tokens; the request asked for exactly 4")
	// A tokenizer counts the tokens only after the end of the request.
	bored := content + `data: {"choices":[{"delta":{},"finish_reason":"bored"}]}` + "\n\n" + done // two bytes of text
	w, p := newTestWorker(t, answerer(bored), Options{Stream: true, Tokenizer: byBytes{}})
	s := sendAll(t, w, p)[0]
	assert.Equal(t, s.Outcome, sample.Truncated)
	assert.ErrorContains(t, s.Err, `the finish reason "bored" is unknown, and the answer has 2 output tokens`)
}

// TestNotUnderstood checks that a failure quotes what the client did not understand of the stream, that a line
// that lost its "data:" is a failure, and that other lines do not matter if the answer is complete.
func TestNotUnderstood(t *testing.T) {
	const quoted = `; not understood: `
	for _, c := range []struct {
		name, body string
		outcome    sample.Outcome
		want       string // a part of the error
	}{
		{"a line of text in a complete answer", content + "upstream notice\n\n" + finish + usage + done, sample.OK, ""},
		{"a comment in a complete answer", content + ": {not data}\n\n" + finish + usage + done, sample.OK, ""},
		{"a comment with an object", content + `: {"queue_position":3}` + "\n\n" + `:{"code":200,"message":"ok"}` + "\n\n" + finish + usage + done, sample.OK, ""},
		{"an event that kept the colon alone", content + strings.TrimPrefix(content, "data") + finish + usage + done, sample.Malformed, quoted + `"{\"choices\":`},
		{"an error event without data, after the finish reason", content + finish + usage + "event: error\n\n" + done, sample.ServerError, "an error event without data"},
		{"an error event without data at the end", content + finish + usage + done + "event: error", sample.ServerError, "an error event without data"},
		{"a line of text, then the end", content + "upstream error: read ECONNRESET\n\n", sample.Truncated, quoted + `"upstream error: read ECONNRESET"`},
		{"a line of text, then [DONE]", `data: {"choices":[{"delta":{"content":"hi"}}]}` + "\n\nupstream error: read ECONNRESET\n\n" + done, sample.Truncated, quoted + `"upstream error: read ECONNRESET"`},
		{"an event that lost data:", content + strings.TrimPrefix(content, "data: ") + finish + usage + done, sample.Malformed, quoted + `"{\"choices\":`},
		{"an event that lost a part of data:", content + strings.TrimPrefix(content, "da") + finish + usage + done, sample.Malformed, quoted + `"ta: {\"choices\":`},
		{"an end marker that lost data:", content + "[DONE]\n\n", sample.Truncated, quoted + `"[DONE]"`},
		{"only text", "upstream error: read ECONNRESET\n", sample.Empty, quoted + `"upstream error: read ECONNRESET"`},
		{"a document, then the end", content + `data: {"foo":"bar"}` + "\n\n", sample.Truncated, quoted + `"{\"foo\":\"bar\"}"`},
		{"a document, then [DONE]", `data: {"choices":[{"delta":{"content":"hi"}}]}` + "\n\n" + `data: {"foo":"bar"}` + "\n\n" + done, sample.Truncated, quoted + `"{\"foo\":\"bar\"}"`},
		{"text in another member", `data: {"choices":[{"delta":{"foo":"hi"}}]}` + "\n\n" + finish + usage + done, sample.Empty, quoted + "the member delta.foo"},
		{"the key, echoed", content + "no such key: sk-secret/key\n\n", sample.Truncated, quoted + `"no such key: `},
	} {
		w, p := newTestWorker(t, answerer(c.body), Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.Equal(t, s.Outcome, c.outcome, "%s: %v", c.name, s.Err)
		if c.want != "" {
			assert.ErrorContains(t, s.Err, c.want, c.name)
			assert.Assert(t, !strings.Contains(s.Err.Error(), "sk-secret"), "%v", s.Err)
		}
	}
	// A document that is not an answer.
	w, p := newTestWorker(t, roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"foo":"bar"}`))}, nil
	}), Options{})
	assert.ErrorContains(t, w.Do(t.Context(), p, 0, false).Err, quoted+`"{\"foo\":\"bar\"}"`)
}

// TestUnread checks that a sample names the member that may have text which was not read.
func TestUnread(t *testing.T) {
	thoughts := func(name string) string { return `data: {"choices":[{"delta":{"` + name + `":"hm"}}]}` + "\n\n" }
	for _, c := range []struct {
		name, body, want string
		last             bool
	}{
		{"before the text", thoughts("foo") + content + finish + usage + done, "delta.foo", false},
		{"between the text", content + thoughts("foo") + content + finish + usage + done, "delta.foo", false},
		{"after the text", content + thoughts("foo") + finish + usage + done, "delta.foo", true},
		{"after the finish reason", content + finish + thoughts("foo") + usage + done, "", false},
		{"known", thoughts("thinking") + content + finish + usage + done, "", false},
		{"a name with the key", thoughts("sk-secret/key") + content + finish + usage + done, "delta.[redacted]", false},
	} {
		w, p := newTestWorker(t, answerer(c.body), Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.NilError(t, s.Err, c.name)
		assert.Equal(t, s.Unread, c.want, c.name)
		assert.Equal(t, s.UnreadLast, c.last, c.name)
	}
}

// TestReopened checks that text after the finish reason needs another finish reason, as in a stream of Gemini whose
// first responses are empty and have one.
func TestReopened(t *testing.T) {
	const (
		empty = `data: {"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}` + "\n\n"
		text  = `data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}` + "\n\n"
		last  = `data: {"candidates":[{"content":{"parts":[{"text":"!"}]},"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":4}}` + "\n\n"
	)
	for body, want := range map[string]string{
		empty + empty + text + text:        "text came after the finish reason, and no finish reason after the text",
		empty + empty + text + text + last: "",
		text + last + empty:                "",
	} {
		w, p := newDialectWorker(t, dialect.Gemini{}, answerer(body), Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		if want == "" {
			assert.NilError(t, s.Err, body)
		} else {
			assert.ErrorContains(t, s.Err, want)
		}
	}
}
