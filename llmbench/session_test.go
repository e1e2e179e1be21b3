package llmbench

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// A listener is a handler that stores the conversations in the requests that it gets.
type listener struct {
	http.Handler
	mu            sync.Mutex
	conversations [][]Message // guarded by mu
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Messages []Message }
	text := new(strings.Builder)
	r.Body = tee{r.Body, text}
	l.Handler.ServeHTTP(w, r)
	if json.Unmarshal([]byte(text.String()), &body) == nil {
		l.mu.Lock()
		l.conversations = append(l.conversations, body.Messages)
		l.mu.Unlock()
	}
}

// session returns a conversation of three turns.
func session() Request {
	return Request{
		Messages: []Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "one two"}}, MaxTokens: 3, FixedOutput: true,
		Then: []Turn{
			{Prompt: "three", MaxTokens: 2, FixedOutput: true, Think: time.Second},
			{Prompt: "four five", MaxTokens: 4, FixedOutput: true, Think: 2 * time.Second},
		},
	}
}

// TestSession compares the messages and the instants of a conversation with calculated values. Each turn
// must contain the server's earlier replies, which make its prompt longer.
func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerPromptToken: ms, PerToken: 10 * ms})
		assert.NilError(t, err)
		listener := &listener{Handler: srv}
		target, stop := inMemory(t, listener)
		defer stop()
		samples := onePass(t, target, Load{Requests: []Request{session(), session()}, Concurrency: 1})

		const first = " the quick brown" // the simulated server always generates the same text
		assert.DeepEqual(t, listener.conversations[:3], [][]Message{
			{{Role: "system", Content: "be brief"}, {Role: "user", Content: "one two"}},
			{{Role: "system", Content: "be brief"}, {Role: "user", Content: "one two"}, {Role: "assistant", Content: first}, {Role: "user", Content: "three"}},
			{{Role: "system", Content: "be brief"}, {Role: "user", Content: "one two"}, {Role: "assistant", Content: first}, {Role: "user", Content: "three"},
				{Role: "assistant", Content: " the quick"}, {Role: "user", Content: "four five"}},
		})
		assert.DeepEqual(t, listener.conversations[3:], listener.conversations[:3]) // the second session has no message of the first
		assert.Equal(t, len(samples), 6)
		var at time.Duration
		for i, want := range []struct{ turn, prompt, out int }{{0, 4, 3}, {1, 8, 2}, {2, 12, 4}, {0, 4, 3}, {1, 8, 2}, {2, 12, 4}} {
			s := &samples[i]
			at += time.Duration(want.turn) * time.Second // one second of think time before each further turn
			assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
			assert.DeepEqual(t, []int{s.Turn, s.PromptTokens, s.OutputTokens}, []int{want.turn, want.prompt, want.out})
			assert.Equal(t, s.Due, at)
			ttft, _ := s.TTFT()
			assert.Equal(t, ttft, 100*ms+time.Duration(want.prompt)*ms)
			at = s.End
		}
		assert.Assert(t, samples[0].Answer == nil, "the text is kept although the load does not ask for it")
		m := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Metrics
		assert.Equal(t, m["p50-ttft-turn1-ns"], float64(104*ms))
		assert.Equal(t, m["p50-ttft-turn3-ns"], float64(112*ms))
		_, has := m["p50-ttft-turn4-ns"]
		assert.Assert(t, !has)
	})
}

// TestSessionOpenLoop checks sessions in an open loop: the first turn is sent on schedule, and each later
// turn after the reply to the previous turn.
func TestSessionOpenLoop(t *testing.T) {
	cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms}
	bubble(t, cfg, Load{Requests: []Request{session(), session()}, Arrivals: arrivals.Constant{Rate: 0.5}}, func(samples []sample.Sample, _ *mockserver.Server) {
		for i, want := range []struct {
			due       time.Duration
			scheduled bool
		}{{0, true}, {1120 * ms, false}, {3230 * ms, false}, {2000 * ms, true}, {3120 * ms, false}, {5230 * ms, false}} {
			assert.Equal(t, samples[i].Due, want.due)
			assert.Equal(t, samples[i].Scheduled, want.scheduled)
		}
	})
}

// TestFailedTurn checks that the turns after a failed turn are not sent and count as failures, and that
// other sessions continue.
func TestFailedTurn(t *testing.T) {
	cfg := mockserver.Config{TTFT: 100 * ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 4, At: 1}}}
	bubble(t, cfg, Load{Requests: []Request{session(), session()}, Concurrency: 1}, func(samples []sample.Sample, srv *mockserver.Server) {
		for i, want := range []sample.Outcome{sample.OK, sample.OK, sample.OK, sample.Truncated, sample.Canceled, sample.Canceled} {
			assert.Equal(t, samples[i].Outcome, want)
			assert.Equal(t, samples[i].Turn, i%3)
		}
		for _, s := range samples[4:] {
			assert.ErrorContains(t, s.Err, send.ErrNotSent.Error())
			assert.ErrorContains(t, s.Err, "turn 0 of its session: truncated")
			assert.Equal(t, s.End, samples[3].End) // the turns that are not sent have no think time
		}
		assert.Equal(t, len(srv.Log()), 4)
		assert.Equal(t, sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Failed(), 3)
	})
}

// TestTurnsAtARate checks, in virtual time, when users with a rate of their own send: a time after the last send, or as soon
// as a longer reply ends.
func TestTurnsAtARate(t *testing.T) {
	const reply = 100*ms + 3*10*ms // four tokens
	for _, tt := range []struct{ every, apart time.Duration }{
		{time.Second, time.Second},
		{reply + 1, reply + 1},
		{50 * ms, reply},
	} {
		t.Run(tt.every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms})
				assert.NilError(t, err)
				target, stop := inMemory(t, srv)
				defer stop()
				r := Request{Prompt: "one", MaxTokens: 4, FixedOutput: true}
				for range 5 {
					r.Then = append(r.Then, Turn{Prompt: "two", MaxTokens: 4, FixedOutput: true, Every: tt.every})
				}
				samples := onePass(t, target, Load{Requests: []Request{r, r}, Concurrency: 2})
				starts := map[int]time.Duration{}
				for _, s := range samples {
					assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
					if last, has := starts[s.Request]; has {
						assert.Equal(t, s.Start-last, tt.apart, "turn %d", s.Turn)
					}
					starts[s.Request] = s.Start
				}
				assert.Equal(t, len(samples), 12)
			})
		})
	}
}

// TestPassEndsInThinkTime ends a pass during the think time of a session. The remaining turns must fail.
func TestPassEndsInThinkTime(t *testing.T) {
	l := Load{Requests: []Request{session(), session()}, Concurrency: 1, PassTimeout: 2 * time.Second}
	bubble(t, mockserver.Config{TTFT: 100 * ms}, l, func(samples []sample.Sample, _ *mockserver.Server) {
		for i, want := range []sample.Outcome{sample.OK, sample.OK, sample.Canceled, sample.Canceled, sample.Canceled, sample.Canceled} {
			assert.Equal(t, samples[i].Outcome, want)
		}
		assert.Equal(t, samples[5].End, 2*time.Second)
	})
}

func TestSessionErrors(t *testing.T) {
	change := func(f func(*Request)) Request { r := session(); f(&r); return r }
	for _, c := range []struct {
		d    dialect.Dialect
		r    Request
		want string
	}{
		{dialect.TGI{}, session(), "request 0: turn 1: tgi: a conversation of 4 messages; only a prompt can be sent"},
		{nil, change(func(r *Request) { r.Then[1].MaxTokens = 0 }), "request 0: turn 2: openai-chat: max tokens 0: want at least 1"},
		{nil, change(func(r *Request) { r.Then[0].Think = -1 }), "request 0: turn 1: think time -1ns: want at least 0"},
		{nil, change(func(r *Request) { r.Then[0].Every = -1 }), "request 0: turn 1: every -1ns, with a think time of 1s: want at least 0, and one of the two"},
		{nil, change(func(r *Request) { r.Then[1].Every = 1 }), "request 0: turn 2: every 1ns, with a think time of 2s: want at least 0, and one of the two"},
		{nil, change(func(r *Request) { r.Schema, r.FixedOutput = []byte("{}"), false }), "request 0: a session with tools, a schema or inputs; its replies are texts"},
	} {
		_, err := tryPass(t, t.Context(), Target{URL: "http://127.0.0.1:1", Dialect: c.d}, Load{Requests: []Request{c.r}, Concurrency: 1})
		assert.ErrorContains(t, err, c.want)
	}
}

// TestPass makes a pass without a benchmark.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms, Faults: []fault.Fault{{Kind: fault.Truncate, Every: 3, At: 1}}})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		l := Load{Requests: words(4, 2), Warmup: words(1, 2), Concurrency: 1, ClientBound: BoundReported} // control streams need sockets, which stop the clock of a bubble
		result, err := Pass(t.Context(), "TestPass", target, l)
		assert.NilError(t, err)
		samples := ordered(result.All())
		assert.Equal(t, len(samples), 4)
		assert.Equal(t, samples[1].Outcome, sample.Truncated)
		assert.Equal(t, result.Elapsed, 4*110*ms)
		assert.Equal(t, len(srv.Log()), 5)

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		l.Warmup = nil
		_, err = Pass(ctx, "TestPass", target, l)
		assert.Error(t, err, "enough")
		l.Requests, l.Fresh = nil, func(int) ([]Request, error) { return words(1, 1), nil }
		_, err = Pass(t.Context(), "TestPass", target, l)
		assert.Error(t, err, "load: Fresh or More for a single pass: want Requests")
	})
}

// A tee is a body that writes what is read from it to another writer.
type tee struct {
	io.ReadCloser
	to io.Writer
}

func (t tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.to.Write(p[:n])
	return n, err
}

// TestSessionDialects sends a session in each dialect that supports conversations.
func TestSessionDialects(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAIResponses{}, dialect.Ollama{}, dialect.AnthropicMessages{}, dialect.Gemini{}, dialect.Vertex{}, dialect.BedrockConverse{}, dialect.BedrockInvoke{}, dialect.Cohere{}} {
		for _, l := range []Load{{}, {NoStream: true}} {
			l.Requests, l.Concurrency = []Request{session()}, 1
			bubbleIn(t, d, mockserver.Config{}, l, func(samples []sample.Sample, _ *mockserver.Server) {
				for i, want := range []int{4, 8, 12} {
					assert.Equal(t, samples[i].Outcome, sample.OK, "%s: %v", d.Name(), samples[i].Err)
					assert.Equal(t, samples[i].PromptTokens, want, d.Name())
				}
			})
		}
	}
}
