package send

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// A reply is a round tripper that always returns the same answer.
type reply struct {
	status int
	header http.Header
	body   string
}

func (a reply) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Status: http.StatusText(a.status), Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func ofType(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// TestDialects creates a sample of an answer in each dialect.
func TestDialects(t *testing.T) {
	const stream, lines = "text/event-stream", "application/x-ndjson"
	for _, c := range []struct {
		dialect, kind, body string
		want                sample.Sample
	}{
		{"openai-responses", stream, `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n" + `data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":4}}}}` + "\n\n",
			sample.Sample{Deltas: 1, PromptTokens: 9, CachedTokens: 4, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "completed"}},
		{"anthropic-messages", stream, "event: message_start\n" + `data: {"type":"message_start","message":{"stop_reason":null,"usage":{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":1}}}` + "\n\n" +
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n" +
			"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}` + "\n\n" + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
			sample.Sample{Deltas: 1, PromptTokens: 9, CachedTokens: 4, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "max_tokens"}},
		{"gemini", stream, `data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}` + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":3,"cachedContentTokenCount":4}}` + "\r\n\r\n",
			sample.Sample{Deltas: 2, PromptTokens: 9, CachedTokens: 4, OutputTokens: 5, TokenSource: sample.FromUsage, Finish: "STOP"}},
		{"bedrock-converse", "application/vnd.amazon.eventstream", message("contentBlockDelta", `{"delta":{"text":"a"}}`) + message("messageStop", `{"stopReason":"end_turn"}`) + message("metadata", `{"usage":{"inputTokens":5,"outputTokens":2,"cacheReadInputTokens":4},"metrics":{"latencyMs":3}}`),
			sample.Sample{Deltas: 1, PromptTokens: 9, CachedTokens: 4, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "end_turn", Server: sample.ServerTimings{Total: 3 * time.Millisecond}}},
		{"cohere", stream, `data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"a"}}}}` + "\n\n" +
			`data: {"type":"message-end","delta":{"finish_reason":"MAX_TOKENS","usage":{"billed_units":{"input_tokens":5,"output_tokens":1},"tokens":{"input_tokens":9,"output_tokens":2},"cached_tokens":4}}}` + "\n\n" + done,
			sample.Sample{Deltas: 1, PromptTokens: 9, CachedTokens: 4, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "MAX_TOKENS"}},
		{"tgi", stream, `data:{"token":{"id":1,"text":"a"},"generated_text":null}` + "\n\n" + `data:{"token":{"id":2,"text":"b"},"generated_text":"ab"}` + "\n\n",
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromEvents}},
		{"llamacpp", stream, `data: {"content":"a","stop":false,"tokens_predicted":1,"tokens_evaluated":5}` + "\n\n" + `data: {"content":"","stop":true,"stop_type":"limit","tokens_predicted":1,"tokens_evaluated":5,"timings":{"cache_n":3,"prompt_n":2,"prompt_ms":1.5,"predicted_n":1,"predicted_ms":0.25}}` + "\n\n",
			sample.Sample{Deltas: 1, PromptTokens: 5, CachedTokens: 3, OutputTokens: 1, TokenSource: sample.FromUsage, Finish: "limit",
				Server: sample.ServerTimings{CachedTokens: 3, PromptTokens: 2, Prompt: 1500 * time.Microsecond, OutputTokens: 1, Predict: 250 * time.Microsecond}}},
		{"ollama", lines, `{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"content":""},"done":true,"done_reason":"stop","total_duration":9,"load_duration":1,"prompt_eval_count":5,"prompt_eval_duration":2,"eval_count":3,"eval_duration":4}`,
			sample.Sample{Deltas: 1, PromptTokens: 5, OutputTokens: 3, TokenSource: sample.FromUsage, Finish: "stop",
				Server: sample.ServerTimings{Load: 1, Prompt: 2, Predict: 4, Total: 9, PromptTokens: 5, OutputTokens: 3}}},
		{"sglang", stream, `data: {"text":"a","output_ids":[1],"meta_info":{"finish_reason":null,"completion_tokens":1}}` + "\n\n" + `data: {"text":"ab","output_ids":[1,2],"meta_info":{"finish_reason":{"type":"length"},"completion_tokens":2}}` + "\n\n" + done,
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "length"}},
		{"triton", stream, `data: {"text_output":"a"}` + "\n\n" + `data: {"text_output":"b"}` + "\n\n",
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromDeltas}},
		{"vllm-demo", "text/plain", `{"text":["p"]}` + "\x00" + `{"text":["p a"]}` + "\x00",
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromDeltas}},
		{"mindie-infer", stream, `data: {"prefill_time":45,"decode_time":null,"token":{"id":[1],"text":"a"}}` + "\n\n" + `data: {"prefill_time":null,"decode_time":18,"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2,"seed":null},"token":{"id":[2],"text":null}}` + "\n\n",
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromUsage, Finish: "length",
				Server: sample.ServerTimings{Prompt: 45 * time.Millisecond, Predict: 18 * time.Millisecond}}},
		{"mindie-vllm", stream, `{"text":["a"]}` + "\x00" + `{"text":["b"]}` + "\x00",
			sample.Sample{Deltas: 2, OutputTokens: 2, TokenSource: sample.FromDeltas}},
	} {
		d, err := dialect.ByName(c.dialect)
		assert.NilError(t, err)
		w, p := newDialectWorker(t, d, reply{200, ofType(c.kind), c.body}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		got := sample.Sample{Deltas: s.Deltas, PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, OutputTokens: s.OutputTokens, TokenSource: s.TokenSource, Finish: s.Finish, Server: s.Server}
		assert.Equal(t, s.Outcome, sample.OK, "%s: %v", c.dialect, s.Err)
		assert.DeepEqual(t, got.Server, c.want.Server)
		got.Server, c.want.Server = sample.ServerTimings{}, sample.ServerTimings{}
		if got.Deltas != c.want.Deltas || got.PromptTokens != c.want.PromptTokens || got.CachedTokens != c.want.CachedTokens || got.OutputTokens != c.want.OutputTokens || got.TokenSource != c.want.TokenSource || got.Finish != c.want.Finish {
			t.Errorf("%s: sample %+v; want %+v", c.dialect, got, c.want)
		}
	}
}

// TestServerTimings checks which of a server's own timings are in the sample.
func TestServerTimings(t *testing.T) {
	h := ofType("application/json")
	h.Set("X-Queue-Time", "3")
	h.Set("X-Prompt-Tokens", "5")
	w, p := newDialectWorker(t, dialect.TGI{}, reply{200, h, `{"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2}}`}, Options{})
	s := w.Do(t.Context(), p, 0, false)
	assert.NilError(t, s.Err)
	assert.Equal(t, s.PromptTokens, 5)
	assert.Equal(t, s.Server, sample.ServerTimings{Queue: 3 * time.Millisecond, PromptTokens: 5})

	w, p = newDialectWorker(t, dialect.TGI{}, reply{200, ofType("application/json"), `{"generated_text":"ab"}`}, Options{})
	s = w.Do(t.Context(), p, 0, false)
	assert.Equal(t, s.Server, sample.ServerTimings{})
}

// TestCollectedStreams checks the outcomes of recorded answers of real servers. They are not
// part of this repository; TestAnswers and TestDialects have fewer answers.
func TestCollectedStreams(t *testing.T) {
	folder := extracases.Path(t, "streams")
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	assert.NilError(t, err)
	var all []struct {
		File, Dialect, Framing, End string
		ContentType                 string `json:"content_type"`
		Status                      int    `json:"http_status"`
		Tokens                      int
		Error                       *struct{ Message string }
	}
	assert.NilError(t, json.Unmarshal(text, &all))
	outcomes := map[string][]sample.Outcome{"clean": {sample.OK}, "error": {sample.ServerError, sample.HTTP, sample.Shed}, "incomplete": {sample.Truncated, sample.Empty}}
	special := map[string]sample.Outcome{
		"quirk_html_200.txt":            sample.Malformed, // the error page of a proxy
		"quirk_json_200_nonstream.txt":  sample.Malformed, // a stream was requested
		"ollama_generate_load_only.txt": sample.Malformed, // neither a stream nor an answer to a prompt
	}
	for _, c := range all {
		t.Run(c.File, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(folder, c.File))
			assert.NilError(t, err)
			d, err := dialect.ByName(c.Dialect)
			if err != nil {
				d = dialect.OpenAIChat{}
			}
			var rt http.RoundTripper = reply{c.Status, ofType(c.ContentType), string(body)}
			if c.Framing == "http11" {
				rt = onTheWire(body)
			}
			w, p := newDialectWorker(t, d, rt, Options{Stream: true})
			p.MaxTokens = 100 // more than any of the answers has
			s := w.Do(t.Context(), p, 0, false)
			want := outcomes[c.End]
			if o, ok := special[c.File]; ok {
				want = []sample.Outcome{o}
			}
			assert.Assert(t, slices.Contains(want, s.Outcome), "%s, %v; want %s", s.Outcome, s.Err, want)
			if s.TokenSource == sample.FromUsage || s.TokenSource == sample.FromEvents {
				assert.Equal(t, s.OutputTokens, c.Tokens)
			}
		})
	}
}

// An onTheWire is a round tripper that parses its bytes as the response.
type onTheWire []byte

func (o onTheWire) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(o)), r)
	if err != nil {
		return nil, errors.New("not a response")
	}
	return resp, nil
}
