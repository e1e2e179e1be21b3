package send

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A step is a part of a body that comes after a pause.
type step struct {
	after time.Duration
	text  string
}

// steps is a body that comes in parts. A read ends when the client gives the request up.
type steps struct {
	ctx  context.Context
	left []step
}

func (s *steps) Read(b []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(s.left[0].after):
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	n := copy(b, s.left[0].text)
	s.left = s.left[1:]
	return n, nil
}

func (s *steps) Close() error { return nil }

// A script answers each request with a stream in parts.
type script []step

func (s script) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: ofType("text/event-stream"), Body: &steps{r.Context(), s}}, nil
}

// TestSignsOfLife checks what resets the idle timer, whose limit is a minute. The limit of the request is ten
// minutes.
func TestSignsOfLife(t *testing.T) {
	const (
		role     = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n"
		empty    = `data: {"choices":[{"delta":{"content":""}}]}` + "\n\n"
		bare     = `data: {"choices":[{"delta":{}}]}` + "\n\n"
		chunk    = `data: {"choices":[]}` + "\n\n"
		comment  = ": OPENROUTER PROCESSING\n\n"
		ping     = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
		progress = `data: {"choices":[{"delta":{"role":"assistant","content":null}}],"prompt_progress":{"total":9,"cache":0,"processed":5,"time_ms":7}}` + "\n\n"
		reason   = `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n\n"
		name     = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}` + "\n\n"
		counted  = `data: {"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":%d}}` + "\n\n"
	)
	each := func(n int, text string) (all []step) {
		for i := range n {
			all = append(all, step{40 * time.Second, strings.ReplaceAll(text, "%d", string(rune('1'+i)))})
		}
		return all
	}
	end := []step{{ms, content}, {ms, finish + usage + done}}
	for _, c := range []struct {
		name  string
		steps [][]step
		want  sample.Outcome // "" means OK
		after time.Duration  // until the stream is given up
	}{
		{"empty deltas without end", [][]step{{{0, role}}, each(30, empty)}, sample.Stalled, time.Minute},
		{"deltas without members", [][]step{{{0, bare}}, each(30, bare)}, sample.Stalled, time.Minute},
		{"chunks without choices", [][]step{{{0, chunk}}, each(30, chunk)}, sample.Stalled, time.Minute},
		{"empty deltas after text", [][]step{{{0, content}}, each(30, empty)}, sample.Stalled, time.Minute},
		{"comments after text", [][]step{{{0, content}}, each(30, comment)}, sample.Stalled, time.Minute},
		{"pings after text", [][]step{{{0, content}}, each(30, ping)}, sample.Stalled, time.Minute},
		{"finish reasons without end", [][]step{{{0, content}}, each(30, finish)}, sample.Stalled, 100 * time.Second},
		{"pings after the answer", [][]step{{{0, content + finish}}, each(30, ping)}, sample.Stalled, time.Minute},
		{"the same count again", [][]step{{{0, content}, {0, strings.ReplaceAll(counted, "%d", "1")}}, each(30, strings.ReplaceAll(counted, "%d", "1"))}, sample.Stalled, time.Minute},
		{"comments and nothing else", [][]step{each(30, comment)}, sample.Timeout, 10 * time.Minute},
		{"comments after the role and nothing else", [][]step{{{0, role}}, each(30, comment)}, sample.Timeout, 10 * time.Minute},

		{"comments in the queue", [][]step{each(9, comment), end}, "", 0},
		{"comments after the role", [][]step{{{0, role}}, each(9, comment), end}, "", 0},
		{"pings after the role", [][]step{{{0, role}}, each(9, ping), end}, "", 0},
		{"progress with the prompt", [][]step{{{0, role}}, each(9, progress), end}, "", 0},
		{"reasoning", [][]step{{{0, role}}, each(9, reason), end}, "", 0},
		{"names of tools", [][]step{{{0, role}}, each(9, name), end}, "", 0},
		{"text", [][]step{{{0, role}}, each(9, content), end}, "", 0},
		{"tokens without text", [][]step{{{0, content}}, each(9, counted), end}, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, p := newTestWorker(t, script(slices.Concat(c.steps...)), Options{Stream: true, Timeout: 10 * time.Minute, IdleTimeout: time.Minute})
			s := w.Do(t.Context(), p, 0, true)
			assert.Equal(t, s.Outcome, cmp.Or(c.want, sample.OK), "%s: %v", c.name, s.Err)
			if c.want != "" {
				assert.Equal(t, s.End, c.after, c.name)
			}
			if c.want == sample.Stalled {
				assert.Error(t, s.Err, "no output for 1m0s in the middle of the stream")
			}
		})
	}
}

// TestAnthropicPings checks a long answer to Anthropic's API that pings from the first event on.
func TestAnthropicPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := script{{0, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"stop_reason\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"}}
		for range 5 {
			all = append(all, step{40 * time.Second, "event: ping\ndata: {\"type\": \"ping\"}\n\n"})
		}
		all = append(all,
			step{ms, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"},
			step{ms, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"})
		w, p := newDialectWorker(t, dialect.AnthropicMessages{}, all, Options{Stream: true, Timeout: 10 * time.Minute})
		s := w.Do(t.Context(), p, 0, true)
		assert.NilError(t, s.Err)
	})
}
