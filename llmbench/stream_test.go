package llmbench

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A paced body returns one event every millisecond.
type paced struct{ events []string }

func (p *paced) Read(b []byte) (int, error) {
	if len(p.events) == 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Millisecond)
	n := copy(b, p.events[0])
	p.events = p.events[1:]
	return n, nil
}

func (p *paced) Close() error { return nil }

type answering func() io.ReadCloser

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: a()}, nil
}

// TestChoices checks which events other tools would count.
func TestChoices(t *testing.T) {
	const (
		role  = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n"
		null  = `data: {"choices":[{"delta":{"content":null}}]}` + "\n\n"
		both  = `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}` + "\n\n"
		ping  = ": ping\n\n"
		empty = `data: {"choices":[],"prompt_filter_results":[]}` + "\n\n"
		token = `data: {"index":1,"token":{"id":1,"text":"a","special":false},"generated_text":"a","details":{"finish_reason":"length","generated_tokens":1}}` + "\n\n"
	)
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		events     []string // the first is read after 1 ms
		want       sample.Choices
		last, done time.Duration
		alone      bool
	}{
		{"a role first, a finish reason and usage last", []string{role, content, content, finish, usage, done},
			sample.Choices{Before: 1, After: 1, First: 1 * ms, Last: 4 * ms}, 5 * ms, 6 * ms, true},
		{"nothing but text", []string{content, content, both, done}, sample.Choices{First: 1 * ms, Last: 3 * ms}, 3 * ms, 4 * ms, false},
		{"none in the first event", []string{empty, ping, content, finish, done}, sample.Choices{After: 1, First: 3 * ms, Last: 4 * ms}, 4 * ms, 5 * ms, false},
		{"null between texts", []string{role, null, content, null, content, finish, done},
			sample.Choices{Before: 2, Amid: 1, After: 1, First: 1 * ms, Last: 6 * ms}, 6 * ms, 7 * ms, false},
		{"without an end marker", []string{content, finish}, sample.Choices{After: 1, First: 1 * ms, Last: 2 * ms}, 2 * ms, 0, false},
		{"together", []string{role + content, finish + done}, sample.Choices{Before: 1, After: 1, First: 1 * ms, Last: 2 * ms}, 2 * ms, 2 * ms, false},
		{"without text", []string{role, finish, usage, done}, sample.Choices{Before: 2, First: 1 * ms, Last: 2 * ms}, 3 * ms, 4 * ms, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, p := newTestWorker(t, answering(func() io.ReadCloser { return &paced{c.events} }), Load{})
			s := w.do(t.Context(), p, 0, true)
			assert.NilError(t, s.Err, c.name)
			assert.Equal(t, s.Choices, c.want, c.name)
			assert.Equal(t, s.LastEvent, c.last, c.name)
			assert.Equal(t, s.Done, c.done, c.name)
			assert.Equal(t, s.UsageAlone, c.alone, c.name)
		})
	}
	// A dialect without choices has none.
	w, p := newDialectWorker(t, dialect.TGI{}, answering(func() io.ReadCloser { return io.NopCloser(strings.NewReader(token)) }), Load{})
	s := w.do(t.Context(), p, 0, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.Choices, sample.Choices{})
}
