package send

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
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

// TestCut checks which events count as cut in two parts.
func TestCut(t *testing.T) {
	c := conn.NewClock(conn.WallClock)
	at := func(stamp, user time.Duration) conn.Arrival {
		return conn.Arrival{User: user, Stamp: c.Epoch().Add(stamp).UnixNano()}
	}
	for _, tt := range []struct {
		name        string
		first, rest conn.Arrival
		want        bool
	}{
		{"nothing was there before", conn.Arrival{}, at(9*ms, 9*ms), false},
		{"in one read", at(9*ms, 9*ms), at(9*ms, 9*ms), false},
		{"the rest came later", at(5*ms, 6*ms), at(9*ms, 9*ms), true},
		{"the rest came a little later", at(8500*time.Microsecond, 8600*time.Microsecond), at(9*ms, 9*ms), false},
		{"the rest was there when the first part was read", at(5*ms, 9*ms), at(8*ms, 9*ms), false},
		{"without timestamps", conn.Arrival{User: 5 * ms}, conn.Arrival{User: 9 * ms}, false},
	} {
		r := &reader{clock: c, part: tt.first, src: conn.Reader{Data: tt.rest}}
		d, _ := tt.rest.On(c)
		assert.Equal(t, r.cut(d), tt.want, tt.name)
	}
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
			w, p := newTestWorker(t, answering(func() io.ReadCloser { return &paced{c.events} }), Options{Stream: true})
			s := w.Do(t.Context(), p, 0, true)
			assert.Equal(t, s.Err == nil, c.name != "without text", "%s: %v", c.name, s.Err)
			assert.Equal(t, s.Choices, c.want, c.name)
			assert.Equal(t, s.LastEvent, c.last, c.name)
			assert.Equal(t, s.Done, c.done, c.name)
			assert.Equal(t, s.UsageAlone, c.alone, c.name)
		})
	}
	// A dialect without choices reports none.
	w, p := newDialectWorker(t, dialect.TGI{}, answering(func() io.ReadCloser { return io.NopCloser(strings.NewReader(token)) }), Options{Stream: true})
	s := w.Do(t.Context(), p, 0, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.Choices, sample.Choices{})
}

// TestStreamWithoutEnd checks that a stream is given up if it has far more deltas than tokens were allowed,
// and that a stream with exactly the maximum number succeeds.
func TestStreamWithoutEnd(t *testing.T) {
	const limit = deltasPerToken*4 + moreDeltas // of requests for 4 tokens
	read := 0                                   // events of the stream
	endless := answering(func() io.ReadCloser { return io.NopCloser(&repeating{event: content, count: &read}) })
	w, p := newTestWorker(t, endless, Options{Stream: true})
	s := w.Do(t.Context(), p, 0, true)
	assert.Equal(t, s.Outcome, sample.Malformed)
	assert.Error(t, s.Err, fmt.Sprintf("the stream has %d deltas and has not ended: want at most %d where 4 output tokens are allowed", limit+1, limit))
	assert.Equal(t, s.Deltas, limit+1)
	assert.Assert(t, read < 100*limit, read) // the rest of a buffer may also have been read

	long := answering(func() io.ReadCloser {
		return io.NopCloser(strings.NewReader(strings.Repeat(content, limit) + finish + usage + done))
	})
	w, p = newTestWorker(t, long, Options{Stream: true})
	s = w.Do(t.Context(), p, 0, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.Deltas, limit)
}

// A repeating reader endlessly returns the same event, and counts how often.
type repeating struct {
	event string
	count *int
}

func (r *repeating) Read(b []byte) (int, error) {
	*r.count++
	return copy(b, r.event), nil
}

// TestReasoningTokens checks that a sample has the reasoning tokens that the server reports.
func TestReasoningTokens(t *testing.T) {
	const stated = `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\n"
	body := answering(func() io.ReadCloser {
		return io.NopCloser(strings.NewReader(content + content + finish + stated + done))
	})
	w, p := newTestWorker(t, body, Options{Stream: true})
	s := w.Do(t.Context(), p, 0, true)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.ReasoningTokens, 2)
	assert.Equal(t, s.OutputTokens, 4)
	_, ok := s.TPOT()
	assert.Assert(t, !ok)
}

func TestStateDeltaTokens(t *testing.T) {
	ten := []int32{1, 2, 2, 2, 2, 2, 2, 2, 2, 0}
	for _, c := range []struct {
		name   string
		counts []int32
		deltas int
		want   []int32
	}{
		{"several tokens", []int32{1, 3, 2}, 3, []int32{1, 3, 2}},
		{"one token each", []int32{1, 1, 1}, 3, nil},
		{"not stated with the first delta", []int32{3, 2}, 3, nil},
		{"not stated at all", nil, 3, nil},
		{"only at the end", []int32{1, 0, 0, 9}, 4, nil},
		{"one of ten has none", ten, 10, ten},
	} {
		got := stateDeltaTokens(c.counts, c.deltas)
		assert.DeepEqual(t, got, c.want)
		if got != nil {
			got[0] = 99
			assert.Assert(t, c.counts[0] != 99, "%s: the result shares memory", c.name)
		}
	}
}

// TestRests checks when a client may rest in a fast stream: while it knows that much more will come.
func TestRests(t *testing.T) {
	const first, now = 100 * time.Millisecond, 110 * time.Millisecond
	for _, tt := range []struct {
		name string
		s    sample.Sample // 10 ms after the first delta
		left int           // after how many deltas the client leaves
		want bool
	}{
		{"half of the answer", sample.Sample{FixedOutput: true, MaxTokens: 200, Deltas: 100, Outputs: 100}, 0, true},
		{"a millisecond before its end", sample.Sample{FixedOutput: true, MaxTokens: 110, Deltas: 100, Outputs: 100}, 0, false},
		{"all tokens", sample.Sample{FixedOutput: true, MaxTokens: 100, Deltas: 100, Outputs: 100}, 0, false},
		{"too many tokens", sample.Sample{FixedOutput: true, MaxTokens: 50, Deltas: 100, Outputs: 100}, 0, false},
		{"an answer that may end at any time", sample.Sample{MaxTokens: 200, Deltas: 100, Outputs: 100}, 0, false},
		{"only reasoning so far", sample.Sample{FixedOutput: true, MaxTokens: 200, Deltas: 100}, 0, false},
		{"the client leaves soon", sample.Sample{FixedOutput: true, MaxTokens: 200, Deltas: 100, Outputs: 100}, 110, false},
		{"the client leaves later", sample.Sample{FixedOutput: true, MaxTokens: 4000, Deltas: 100, Outputs: 100}, 200, true},
		{"within the last burst of a slow stream", sample.Sample{FixedOutput: true, MaxTokens: 16, Deltas: 6, Outputs: 6}, 0, false},
		{"within an earlier burst", sample.Sample{FixedOutput: true, MaxTokens: 64, Deltas: 6, Outputs: 6}, 0, true},
	} {
		tt.s.FirstOutput = first
		r := reader{leaveAfter: tt.left}
		assert.Equal(t, r.rests(&tt.s, now), tt.want, tt.name)
	}
}
