package send

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	content = `data: {"choices":[{"delta":{"content":"hi"}}]}` + "\n\n"
	finish  = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage   = `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}` + "\n\n"
	done    = "data: [DONE]\n\n"
)

// TestAnswers checks the samples of answers from servers, and from proxies between the client and a server.
func TestAnswers(t *testing.T) {
	const sse, json = "text/event-stream", "application/json"
	for _, c := range []struct {
		name     string
		noStream bool
		status   int
		kind     string
		body     string
		want     sample.Outcome
		text     string // in the error
		tokens   int
		source   sample.TokenSource
	}{
		{"a stream", false, 200, sse, content + finish + usage + done, sample.OK, "", 3, sample.FromUsage},
		{"a charset", false, 200, "text/event-stream; charset=utf-8", content + finish + usage + done, sample.OK, "", 3, sample.FromUsage},
		{"no content type", false, 200, "", content + finish + usage + done, sample.OK, "", 3, sample.FromUsage},
		{"no usage", false, 200, sse, content + content + finish + done, sample.OK, "", 2, sample.FromDeltas},
		{"usage of zeros first", false, 200, sse, `data: {"choices":[{"text":"x"}],"usage":{"prompt_tokens":0,"completion_tokens":0}}` + "\n\n" + finish + usage + done, sample.OK, "", 3, sample.FromUsage},
		{"a finish reason and no [DONE]", false, 200, sse, content + finish, sample.OK, "", 1, sample.FromDeltas},
		{"[DONE] and no finish reason", false, 200, sse, content + done, sample.OK, "", 1, sample.FromDeltas},
		{"[DONE] while the finish reason is open", false, 200, sse, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n" + done, sample.Truncated, "[DONE] came before the finish reason", 0, ""},
		{"the server gave up", false, 200, sse, content + `data: {"choices":[{"delta":{},"finish_reason":"abort"}]}` + "\n\n" + done, sample.ServerError, "finish reason abort", 0, ""},
		{"an error field", false, 200, sse, content + "error: {\"code\":500,\"message\":\"no slot\"}\n\n", sample.ServerError, "no slot", 0, ""},
		{"counts beside the timings", false, 200, sse, content + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"prompt_n":4,"cache_n":1,"predicted_n":3}}` + "\n\n" + done, sample.OK, "", 3, sample.FromUsage},
		{"token ids and no text", false, 200, sse, `data: {"choices":[{"text":"","token_ids":[1,2],"finish_reason":"length"}]}` + "\n\n" + done, sample.OK, "", 2, sample.FromEvents},
		{"reasoning alone", false, 200, sse, `data: {"choices":[{"delta":{"reasoning":"hm"}}]}` + "\n\n" + finish + done, sample.OK, "", 1, sample.FromDeltas},
		{"two documents in one event", false, 200, sse, `data: {"choices":[{"text":"a"}]}{"choices":[{"text":"b"}]}` + "\n\n" + finish + done, sample.OK, "", 2, sample.FromDeltas},
		{"[DONE] without a blank line", false, 200, sse, content + finish + "data: [DONE]", sample.OK, "", 1, sample.FromDeltas},
		{"tokens without any text", false, 200, sse, finish + usage + done, sample.Empty, "the answer is complete but has no text, although the server reports 3 output tokens", 0, ""},
		{"reasoning that is not shown", false, 200, sse, finish + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":3}}}` + "\n\n" + done, sample.OK, "", 3, sample.FromUsage},
		{"neither tokens nor text", false, 200, sse, finish + done, sample.Empty, "no token", 0, ""},
		{"only [DONE]", false, 200, sse, done, sample.Empty, "no token", 0, ""},
		{"only comments", false, 200, sse, ": ping\n\n", sample.Empty, "no event", 0, ""},
		{"cut cleanly", false, 200, sse, content + content, sample.Truncated, "neither a finish reason nor [DONE]", 0, ""},
		{"cut within an event", false, 200, sse, content + content[:20], sample.Truncated, "within an event", 0, ""},
		{"not JSON", false, 200, sse, content + "data: {oops}\n\n" + finish + done, sample.Malformed, "oops", 0, ""},
		{"an error object, then [DONE]", false, 200, sse, content + `data: {"error":{"message":"out of memory","code":500}}` + "\n\n" + done, sample.ServerError, "out of memory", 0, ""},
		{"an error as a string", false, 200, sse, `data: {"error":"overloaded"}` + "\n\n", sample.ServerError, "overloaded", 0, ""},
		{"an error event", false, 200, sse, content + "event: error\ndata: upstream reset\n\n", sample.ServerError, "upstream reset", 0, ""},
		{"an error event without data", false, 200, sse, content + "event: error\ndata:\n\n" + done, sample.ServerError, "without data", 0, ""},
		{"an error after [DONE]", false, 200, sse, content + finish + done + `data: {"error":"late"}` + "\n\n", sample.ServerError, "late", 0, ""},
		{"text after [DONE]", false, 200, sse, content + finish + done + content, sample.OK, "", 1, sample.FromDeltas},
		{"an event that is too large", false, 200, sse, "data: " + strings.Repeat("x", 65<<20) + "\n\n", sample.Malformed, "event too large", 0, ""},
		{"an empty body", false, 200, sse, "", sample.Empty, "no event", 0, ""},
		{"JSON for a stream", false, 200, json, `{"choices":[{"message":{"content":"hi"}}]}`, sample.Malformed, "want a stream, but the answer is application/json", 0, ""},
		{"a JSON error for a stream", false, 200, json, `{"error":{"message":"no such model"}}`, sample.ServerError, "no such model", 0, ""},
		{"no body for a stream", false, 200, json, "", sample.Empty, "no body", 0, ""},
		{"a proxy's page", false, 200, "text/html", "<html>welcome</html>", sample.Malformed, "text/html", 0, ""},
		{"400", false, 400, json, `{"error":{"message":"too long"}}`, sample.HTTP, `status 400: {"error":{"message":"too long"}}`, 0, ""},
		{"429", false, 429, json, "", sample.Shed, "status 429", 0, ""},
		{"503", false, 503, json, "", sample.HTTP, "status 503", 0, ""},
		{"a redirect is not followed", false, 307, "", "", sample.HTTP, "status 307", 0, ""},
		{"204", false, 204, "", "", sample.Empty, "no event", 0, ""},
		{"a key in the answer", false, 401, json, "Incorrect API key provided: sk-secret/key", sample.HTTP, "provided: [redacted]", 0, ""},
		{"a key in JSON", false, 401, json, `"sk-secret\/key"`, sample.HTTP, `"[redacted]"`, 0, ""},
		{"a key with an escaped slash", false, 401, json, `"sk-secret\u002Fkey" sk-secret%2fkey sk-secret&#x2f;key`, sample.HTTP, `"[redacted]" [redacted] [redacted]`, 0, ""},
		{"a key in base64", false, 401, json, "no dXNlcjpzay1zZWNyZXQva2V5", sample.HTTP, "no dXNlcjp[redacted]", 0, ""},
		{"a command to GitHub", false, 401, json, "bad\r\n::set-output name=a::b\u2028##[error]c", sample.HTTP, "bad\\r\n\\x3a:set-output name=a::b\\u2028\\x23#[error]c", 0, ""},
		{"a key that an excerpt cuts", false, 200, sse, `data: {"error":"` + strings.Repeat("x", 191) + `sk-secret/key"}` + "\n\n", sample.ServerError, "[redacted]…", 0, ""},
		{"a key that the limit of an error's body cuts", false, 401, json, strings.Repeat("x", maxErrorBody-12) + "sk-secret/key" + strings.Repeat("x", 1000), sample.HTTP, "xx[redacted]xx…", 0, ""},
		{"a key beyond blanks", false, 401, json, strings.Repeat(" ", maxErrorBody) + "sk-secret/key" + strings.Repeat(" ", 1000) + "x", sample.HTTP, "status 401: [redacted]", 0, ""},
		{"a key that an excerpt of JSON cuts", false, 200, json, strings.Repeat("x", 190) + "sk-secret/key" + strings.Repeat("x", 1000), sample.Malformed, `xx[redacted]…"`, 0, ""},
		{"a key that an excerpt of a page cuts", false, 200, "text/html", strings.Repeat("x", 195) + "sk-secret/key", sample.Malformed, `xx[reda…"`, 0, ""},
		{"a key of a header of its own", false, 401, json, "no team-secret", sample.HTTP, "no [redacted]", 0, ""},

		{"whole", true, 200, json, `{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`, sample.OK, "", 3, sample.FromUsage},
		{"whole, no usage", true, 200, json, `{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}]}`, sample.OK, "", 0, sample.FromNothing},
		{"whole, nothing in it", true, 200, json, `{"choices":[]}`, sample.Empty, "no token", 0, ""},
		{"whole, an error", true, 200, json, `{"error":{"message":"no"}}`, sample.ServerError, "no", 0, ""},
		{"whole, cut", true, 200, json, `{"choices":[{"mess`, sample.Malformed, "unexpected EOF", 0, ""},
		{"whole, no body", true, 200, json, " \n", sample.Empty, "no body", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mock := httpmock.NewMockTransport()
			mock.RegisterResponder("POST", "http://server/v1/chat/completions", func(r *http.Request) (*http.Response, error) {
				assert.Equal(t, r.Header.Get("Authorization"), "Bearer sk-secret/key")
				assert.Equal(t, r.Header.Get("X-Team"), "team-secret")
				assert.Equal(t, r.Header.Get("Content-Type"), "application/json")
				resp := httpmock.NewStringResponse(c.status, c.body)
				resp.Status = fmt.Sprint(c.status)
				if c.kind != "" {
					resp.Header.Set("Content-Type", c.kind)
				}
				return resp, nil
			})
			w, p := newTestWorker(t, mock, Options{Stream: !c.noStream})
			for range 2 { // the worker is used again, whatever came before
				s := w.Do(t.Context(), p, 0, false)
				assert.Equal(t, s.Outcome, c.want, "%v", s.Err)
				assert.Equal(t, s.Status, c.status)
				assert.Equal(t, s.OutputTokens, c.tokens)
				assert.Equal(t, s.TokenSource, c.source)
				if c.want != sample.OK {
					assert.ErrorContains(t, s.Err, c.text)
					assert.Assert(t, len(s.Err.Error()) < 5000 && !strings.Contains(s.Err.Error(), "sk-secr"), "%v", s.Err)
				}
			}
		})
	}
}

// TestSecretsNowhere checks that no part of a sample has a credential that the server repeats, or a control
// character that could change a terminal.
func TestSecretsNowhere(t *testing.T) {
	wrong := func(a Answer) error { return fmt.Errorf("want no sk-secret/key, and the answer is \x1b[2J%s", a.Text) }
	for name, body := range map[string]string{
		"text":      `data: {"choices":[{"delta":{"content":"it is sk-sec"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"ret/key"}}]}` + "\n\n" + finish + done,
		"reasoning": `data: {"choices":[{"delta":{"reasoning":"sk-secret/key"}}]}` + "\n\n" + content + finish + done,
		"tool call": `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"sk-secret/key","arguments":"{\"a\":\"sk-secret/key\"}"}}]}}]}` + "\n\n" + finish + done,
		"finish":    content + `data: {"choices":[{"delta":{},"finish_reason":"sk-secret/key\u001b[2J"}]}` + "\n\n" + done,
		"error":     content + `data: {"error":"\u001b[2Jno sk-secret/key"}` + "\n\n",
		"not JSON":  content + "data: {sk-secret/key \x1b[2J\n\n",
	} {
		w, p := newTestWorker(t, answerer(body), Options{Stream: true, KeepText: true})
		p.Check = wrong
		s := sendAll(t, w, p)[0]
		written, err := json.Marshal(s)
		assert.NilError(t, err)
		shown := string(written) + fmt.Sprint(s.Err, s.Finish, s.Wrong)
		assert.Assert(t, strings.Contains(shown, "[redacted]"), "%s: %s", name, shown)
		for _, never := range []string{"sk-sec", `et\/key`, "\x1b", `\u001b`} {
			assert.Assert(t, !strings.Contains(shown, never), "%s: %q in %s", name, never, shown)
		}
	}
}

// byBytes is a tokenizer whose tokens are bytes.
type byBytes struct{}

func (byBytes) Count(text string) int { return len(text) }

// TestTokenizer checks that the load's tokenizer counts the output tokens only if the server does not
// report them.
func TestTokenizer(t *testing.T) {
	for body, want := range map[string]sample.Sample{
		content + finish + usage + done:     {OutputTokens: 3, TokenSource: sample.FromUsage},
		content + content + finish + done:   {OutputTokens: 4, TokenSource: sample.FromTokenizer},
		content + finish + "data: [DONE]\n": {OutputTokens: 2, TokenSource: sample.FromTokenizer},
	} {
		w, p := newTestWorker(t, answerer(body), Options{Stream: true, Tokenizer: byBytes{}})
		for _, s := range sendAll(t, w, p, p) {
			assert.Assert(t, s.Answer == nil)
			assert.Equal(t, s.OutputTokens, want.OutputTokens)
			assert.Equal(t, s.TokenSource, want.TokenSource)
		}
	}
}

// TestFirstFaultWins checks a server that reports an error in a stream. This error must be the failure of
// the request, even if the connection then breaks, or if nothing more comes until a deadline passes.
func TestFirstFaultWins(t *testing.T) {
	const fault = `data: {"error":{"message":"out of memory"}}` + "\n\n"
	for name, after := range map[string]error{"cut": io.ErrUnexpectedEOF, "silent": nil} {
		w, p := newTestWorker(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(content+fault), readFunc(func([]byte) (int, error) {
				if after == nil {
					<-r.Context().Done()
					return 0, r.Context().Err()
				}
				return 0, after
			}))
			return &http.Response{StatusCode: 200, Body: io.NopCloser(body)}, nil
		}), Options{Stream: true, IdleTimeout: 10 * ms})
		s := w.Do(t.Context(), p, 0, false)
		assert.Equal(t, s.Outcome, sample.ServerError, name)
		assert.ErrorContains(t, s.Err, "out of memory")
	}
}

// TestInstants checks that instants are the times at which reads returned. They must include neither the
// time of parsing nor the wait for the end of the body.
func TestInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := []string{content + content, content, usage + `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`}
		w, p := newTestWorker(t, roundTrip(func(*http.Request) (*http.Response, error) {
			time.Sleep(100 * ms)
			i := 0
			return &http.Response{StatusCode: 200, Body: io.NopCloser(readFunc(func(b []byte) (int, error) {
				time.Sleep(10 * ms)
				if i == len(reads) {
					return 0, io.EOF
				}
				i++
				return copy(b, reads[i-1]), nil
			}))}, nil
		}), Options{Stream: true})
		w.clock = conn.NewClock(conn.WallClock)
		time.Sleep(ms)
		s := w.Do(t.Context(), p, 0, true)
		assert.NilError(t, s.Err)
		assert.Equal(t, s.Due, time.Duration(0))
		assert.Equal(t, s.Start, ms, "the send of a request that is late is not when it was due")
		assert.Equal(t, s.First, 111*ms)
		assert.DeepEqual(t, s.Gaps, []time.Duration{0, 10 * ms, 10 * ms})
		assert.Equal(t, s.Last, 131*ms)
		assert.Equal(t, s.End, 141*ms)
		assert.Equal(t, sample.Summarize(sample.All(s), s.End, sample.SLO{}).Metrics["mean-ttft-ns"], 111e6)
	})
}

// roundTrip and readFunc are functions that implement the interface that their name suggests.
type (
	roundTrip func(*http.Request) (*http.Response, error)
	readFunc  func([]byte) (int, error)
)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
func (f readFunc) Read(p []byte) (int, error)                         { return f(p) }

// An answerer is a round tripper that always streams the same body.
type answerer string

func (a answerer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A streamer streams n chunks, each in a separate Read.
type streamer struct{ n int }

func (s streamer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &chunkBody{left: s.n}}, nil
}

type chunkBody struct{ left int }

var (
	oneChunk  = []byte(`data: {"id":"chatcmpl-9f3c2b7a6d5e4f3c2b7a6d5e4f3c2b7a","object":"chat.completion.chunk","created":1795255695,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n")
	lastChunk = []byte(finish + usage + done)
)

func (c *chunkBody) Read(p []byte) (int, error) {
	c.left--
	switch {
	case c.left >= 0:
		return copy(p, oneChunk), nil
	case c.left == -1:
		return copy(p, lastChunk), nil
	}
	return 0, io.EOF
}

func (c *chunkBody) Close() error { return nil }

// TestChunksDoNotAllocate checks that the number of a stream's allocations does not grow with
// the number of its chunks.
func TestChunksDoNotAllocate(t *testing.T) {
	allocs := func(chunks int) float64 {
		w, p := newTestWorker(t, streamer{chunks}, Options{Stream: true})
		p.MaxTokens = chunks
		return testing.AllocsPerRun(20, func() {
			if s := w.Do(t.Context(), p, 0, false); s.Outcome != sample.OK || s.Deltas != chunks {
				t.Fatalf("%d deltas, %s: %v; want %d", s.Deltas, s.Outcome, s.Err, chunks)
			}
		})
	}
	const others = 50 // allocations by the garbage collector or by goroutines of other tests
	if few, many := allocs(10), allocs(5010); many > few+others {
		t.Errorf("a stream of 10 chunks makes %v allocations, one of 5010 %v", few, many)
	}
}

// BenchmarkStream measures the client's work for a chunk, from the bytes of a Read to the
// sample.
func BenchmarkStream(b *testing.B) {
	const chunks = 1000
	w, p := newTestWorker(b, streamer{chunks}, Options{Stream: true})
	p.MaxTokens = chunks
	b.ReportAllocs()
	for b.Loop() {
		if s := w.Do(b.Context(), p, 0, false); s.Deltas != chunks {
			b.Fatal(s.Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunks), "ns/chunk")
}

// TestCharacters checks that characters of the generated text are counted, not bytes, streamed or not.
func TestCharacters(t *testing.T) {
	const whole = `{"choices":[{"message":{"reasoning_content":"嗯","content":"你好 é"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	streamed := `data: {"choices":[{"delta":{"content":"你好"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":" é"}}]}` + "\n\n" + finish + done
	for stream, body := range map[bool]string{false: whole, true: streamed} {
		mock := httpmock.NewMockTransport()
		mock.RegisterNoResponder(httpmock.NewStringResponder(200, body))
		w, p := newTestWorker(t, mock, Options{Stream: stream})
		p.Chars = 6
		want := 4
		if !stream {
			want = 5
		}
		s := w.Do(t.Context(), p, 0, false)
		assert.NilError(t, s.Err)
		assert.DeepEqual(t, []int{s.PromptChars, s.OutputChars}, []int{6, want})
	}
}

// TestQueryReachesTheServer checks that the dialect's path and body and the request's ID are
// sent.
func TestQueryReachesTheServer(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAICompletions{}} {
		mock := httpmock.NewMockTransport()
		var path, body, id string
		mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
			text, err := io.ReadAll(r.Body)
			path, body, id = r.URL.Path, string(text), r.Header.Get("X-Request-Id")
			return httpmock.NewStringResponse(200, content+finish+done), err
		})
		w, _ := newDialectWorker(t, d, mock, Options{Stream: true})
		p := question(t, d, dialect.Query{Prompt: "say <hi>", MaxTokens: 7, FixedOutput: true, Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.NilError(t, s.Err)
		assert.Equal(t, id, s.ID)
		assert.Equal(t, "http://server"+path, "http://server"+d.Path(dialect.Query{}))
		assert.Equal(t, body, string(p.Body))
	}
}

// TestInvalidPath checks the failure of a request whose path gives an invalid URL.
func TestInvalidPath(t *testing.T) {
	w, p := newTestWorker(t, answerer(content+finish+done), Options{Stream: true})
	p.Path = "/%zz"
	s := sendAll(t, w, p)[0]
	assert.Equal(t, s.Outcome, sample.Malformed)
	assert.ErrorContains(t, s.Err, "%zz")
}

// TestMoreThanAllowed checks answers with more tokens than the request allowed: with two more tokens, the
// answer is malformed.
func TestMoreThanAllowed(t *testing.T) {
	for _, tt := range []struct {
		most int
		want sample.Outcome
	}{{3, sample.OK}, {2, sample.OK}, {1, sample.Malformed}} {
		w, p := newTestWorker(t, answerer(content+finish+usage+done), Options{Stream: true})
		p.MaxTokens = tt.most
		s := sendAll(t, w, p)[0]
		assert.Equal(t, s.Outcome, tt.want, "3 of %d: %v", tt.most, s.Err)
		if s.Outcome != sample.OK {
			assert.ErrorContains(t, s.Err, "the server reports 3 output tokens, but 1 were allowed")
		}
	}
}

// TestOneTokenWithoutText checks that an answer of one token may have no text if the request asked for one
// token.
func TestOneTokenWithoutText(t *testing.T) {
	for tokens, want := range map[int]sample.Outcome{1: sample.OK, 2: sample.Empty} {
		w, p := newTestWorker(t, answerer(finish+strings.ReplaceAll(usage, `"completion_tokens":3`, `"completion_tokens":1`)+done), Options{Stream: true})
		p.MaxTokens = tokens
		s := w.Do(t.Context(), p, 0, false)
		assert.Equal(t, s.Outcome, want, "%d tokens asked for: %v", tokens, s.Err)
	}
}
