package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/limits"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// A log keeps the lines that were logged.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) String() string { return strings.Join(l.lines, "\n") }

// served runs f in virtual time. The server of the target is in memory.
func served(t *testing.T, h http.Handler, f func(t *testing.T, target llmbench.Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		srv := &http.Server{Handler: h}
		var wg sync.WaitGroup
		wg.Go(func() { srv.Serve(ln) })
		defer func() { srv.Close(); wg.Wait() }()
		f(t, llmbench.Target{URL: "http://mem", Model: "m", Dial: ln.Dial})
	})
}

// counting returns a chat server. Its usage reports count(prompt) tokens. If that is 0, there is no
// usage.
func counting(count func(prompt string) int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Messages []struct{ Content string } }
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) == 0 {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		usage := ""
		if n := count(q.Messages[0].Content); n > 0 {
			usage = fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":1}`, n)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]%s}`, usage)
	})
	return mux
}

// thirds counts one token for each three letters of a word, where one or two letters at the end
// also count as a token. It adds 11 tokens for the template.
func thirds(prompt string) int {
	n := 11
	for _, word := range strings.Fields(prompt) {
		n += (len(word) + 2) / 3
	}
	return n
}

// TestCounterOfMock checks that a server with /tokenize counts its own tokens, and that a tokenizer
// in the options has priority.
func TestCounterOfMock(t *testing.T) {
	virtual(t, mockserver.Config{}, func(t *testing.T, target llmbench.Target) {
		var l log
		c, err := newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
		assert.NilError(t, err)
		asked, isServer := c.tokens.(*tokenizer.Server)
		assert.Assert(t, isServer, "%T", c.tokens)
		assert.Equal(t, c.template, 0)
		assert.Equal(t, c.tokens.Count("one two three"), 3)
		assert.NilError(t, asked.Err(), "the server is asked after newCounter has returned")

		own := tokenizer.Estimate{PerWord: 2}
		c, err = newCounter(t.Context(), target, Options{Tokenizer: own}, "", true, true, l.logf)
		assert.NilError(t, err)
		assert.Equal(t, c.tokens, own)
		assert.Equal(t, c.template, 0, "the server counts fewer tokens than the tokenizer")
		assert.Equal(t, l.String(), "")
	})
	_, err := newCounter(t.Context(), llmbench.Target{}, Options{}, "missing.json", true, true, t.Logf)
	assert.ErrorContains(t, err, "LLMBENCH_TOKENIZER: tokenizer: open missing.json")
}

// TestCounterEstimates checks that the estimate for the words of prompts is right on average, and
// that the estimate for the template is exact.
func TestCounterEstimates(t *testing.T) {
	served(t, counting(thirds), func(t *testing.T, target llmbench.Target) {
		var l log
		c, err := newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
		assert.NilError(t, err)
		assert.Assert(t, strings.HasPrefix(l.String(), "prompts have about the lengths that were asked for: the server has no tokenizer that can be asked; by its usage for 6 prompts, a word has "), "%s", &l)
		assert.Assert(t, strings.HasSuffix(l.String(), " tokens on average, and the chat template adds 11; for exact lengths set LLMBENCH_TOKENIZER to the model's tokenizer.json"), "%s", &l)
		assert.Equal(t, c.template, 11)
		all := strings.Join(probeWords(9, 1000), " ")
		assert.Equal(t, c.tokens.Count(all), thirds(all)-11)
		assert.Assert(t, !c.unknown)

		s := server{target: target, counter: c}
		requests, err := s.prompts(512, 8, 1).Requests(100)
		assert.NilError(t, err)
		sum := 0
		for _, r := range requests {
			sum += thirds(r.Prompt)
		}
		mean := float64(sum) / 100
		assert.Assert(t, mean > 512*0.995 && mean < 512*1.005, "mean length %v", mean)
	})
}

// TestCounterSendsWhatServersTake checks that prompts that find out how a server counts are such that servers with
// special wishes answer them, and that an answer without text is enough.
func TestCounterSendsWhatServersTake(t *testing.T) {
	const stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"
	for name, c := range map[string]struct {
		body   string // LLMBENCH_BODY
		refuse func(body map[string]any) bool
		text   string // of answers that are not streamed
	}{
		"no fixed length":    {"", func(body map[string]any) bool { return body["ignore_eos"] != nil || body["min_tokens"] != nil }, "a"},
		"options of streams": {`{"stream_options":{"continuous_usage_stats":true}}`, func(body map[string]any) bool { return body["stream"] != true && body["stream_options"] != nil }, "a"},
		"streams only":       {"", func(body map[string]any) bool { return body["stream"] != true }, "a"},
		"16 tokens at least": {"", func(body map[string]any) bool { return body["max_tokens"].(float64) < 16 }, "a"},
		"no text":            {"", func(map[string]any) bool { return false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				assert.Check(t, json.NewDecoder(r.Body).Decode(&body))
				if c.refuse(body) {
					http.Error(w, "no", http.StatusUnprocessableEntity)
					return
				}
				n := thirds(body["messages"].([]any)[0].(map[string]any)["content"].(string))
				if body["stream"] == true {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, stream, n)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, c.text, n)
			})
			served(t, mux, func(t *testing.T, target llmbench.Target) {
				if c.body != "" {
					target.Body = json.RawMessage(c.body)
				}
				var l log
				got, err := newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
				assert.NilError(t, err)
				assert.Equal(t, got.template, 11, "%s", &l)
			})
		})
	}
}

// TestCounterGuesses checks that a server that does not tell how it counts can still be measured.
// If no lengths are requested, the server must get no probe.
func TestCounterGuesses(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"no usage":       {counting(func(string) int { return 0 }), "the server does not tell how it counts tokens: it reports no usage; for exact lengths set LLMBENCH_TOKENIZER"},
		"constant usage": {counting(func(string) int { return 7 }), "the usage that it reports cannot be used: calibrate: 0 tokens a word"},
		"refusal":        {http.NotFoundHandler(), "http: status 404 Not Found"},
		"busy for long": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}), "shed: status 503 Service Unavailable"},
		"busy for ever": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		}), "a request before the measurement is sent again in"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v1/") {
					requests.Add(1)
				}
				c.handler.ServeHTTP(w, r)
			})
			served(t, h, func(t *testing.T, target llmbench.Target) {
				var l log
				got, err := newCounter(t.Context(), target, Options{}, "", false, true, l.logf)
				assert.NilError(t, err)
				assert.Assert(t, got.unknown)
				assert.Equal(t, l.String(), "")
				assert.Equal(t, requests.Load(), int32(0))

				got, err = newCounter(t.Context(), target, Options{}, "", true, false, l.logf) // it generates no text
				assert.NilError(t, err)
				assert.Assert(t, got.unknown)
				assert.Assert(t, strings.Contains(l.String(), "it has no /tokenize"), "%s", &l)
				assert.Equal(t, requests.Load(), int32(0))

				began := time.Now()
				got, err = newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
				assert.NilError(t, err)
				assert.Equal(t, got, counter{tokens: guess.tokens, noProps: true})
				assert.Assert(t, strings.Contains(l.String(), c.want), "%s", &l)
				assert.Assert(t, strings.Contains(l.String(), "prompts have about the lengths"), "%s", &l)
				assert.Assert(t, requests.Load() <= patient.Tries && time.Since(began) <= patient.Time, "%d requests in %v", requests.Load(), time.Since(began))
			})
		})
	}
}

// TestCounterIsPatient checks that probes are sent again after the time that the server asks for.
func TestCounterIsPatient(t *testing.T) {
	var refusals atomic.Int32
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			switch refusals.Add(1) {
			case 1:
				w.Header().Set("Retry-After", "20")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			case 2:
				w.Header().Set("Retry-After", time.Now().Add(10*time.Second).UTC().Format(http.TimeFormat))
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		counting(thirds).ServeHTTP(w, r)
	})
	served(t, h, func(t *testing.T, target llmbench.Target) {
		var l log
		began := time.Now()
		c, err := newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
		assert.NilError(t, err)
		assert.Equal(t, c.template, 11)
		waited := time.Since(began)
		assert.Assert(t, waited >= 29*time.Second && waited < 32*time.Second, "waited %v", waited)
		assert.Equal(t, len(l.lines), 3) // the last line is about the estimate
		assert.Assert(t, strings.Contains(l.lines[0], "a request before the measurement is sent again in 20s: shed: status 429"), l.lines[0])
	})
}

// TestCounterEnds checks that the wait ends when the context ends.
func TestCounterEnds(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	served(t, h, func(t *testing.T, target llmbench.Target) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, fmt.Errorf("interrupted"))
		defer cancel()
		began := time.Now()
		_, err := newCounter(ctx, target, Options{}, "", true, true, t.Logf)
		assert.ErrorContains(t, err, "interrupted")
		assert.Equal(t, time.Since(began), time.Second)
	})
}

// TestCounterOfOllama checks that the vocabulary that a server shows is only used if the server
// counts with it.
func TestCounterOfOllama(t *testing.T) {
	for _, agrees := range []bool{true, false} {
		count := thirds
		if agrees { // each letter and each space is a token
			count = func(prompt string) int { return 5 + len(prompt) }
		}
		var tokens []string
		var types []int
		for c := 'a'; c <= 'z'; c++ {
			tokens, types = append(tokens, string(c)), append(types, 1)
		}
		tokens, types = append(tokens, "Ġ", "zq"), append(types, 1, 1)
		mux := http.NewServeMux()
		mux.Handle("/v1/", counting(count))
		mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
			json.NewEncoder(w).Encode(map[string]any{"model_info": map[string]any{
				"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": tokens,
				"tokenizer.ggml.token_type": types, "tokenizer.ggml.merges": []string{"z q"},
			}})
		})
		served(t, mux, func(t *testing.T, target llmbench.Target) {
			var l log
			c, err := newCounter(t.Context(), target, Options{}, "", true, true, l.logf)
			assert.NilError(t, err)
			_, shown := c.tokens.(*tokenizer.HuggingFace)
			assert.Equal(t, shown, agrees, "%T", c.tokens)
			if agrees {
				assert.Equal(t, c.template, 5)
			}
			assert.Equal(t, strings.Contains(l.String(), "the vocabulary that the server shows is not used"), !agrees, "%s", &l)
		})
	}
}

// TestAsksLengths checks for which loads the lengths of prompts matter.
func TestAsksLengths(t *testing.T) {
	const file = "openqa:../benchdata/testdata/kinds/openqa.jsonl"
	for _, c := range []struct {
		scenario string
		options  Options
		cells    []cell
		want     bool
	}{
		{"Serve", Options{Dataset: "random", Input: 5, Output: 5}, nil, true},
		{"Serve", Options{Dataset: file}, nil, false},
		{"Serve", Options{Dataset: "azure:../benchdata/testdata/kinds/azure.csv"}, nil, true},
		{"Chat", Options{}, chat.reduced, true},
		{"Chat", Options{}, []cell{{data: shareGPTData("sharegpt", 278, true)}}, false},
		{"Chat", Options{Simulated: true}, []cell{{data: shareGPTData("sharegpt", 278, true)}}, true},
		{"MultiTurn", Options{}, nil, true},
	} {
		assert.Equal(t, scenario(c.scenario).asksLengths(c.options, c.cells), c.want, "%+v", c)
	}
}

// TestWithoutLengths checks requests of a data set from a file. If it is not known how the server
// counts, they must have no length.
func TestWithoutLengths(t *testing.T) {
	requests := []llmbench.Request{{Prompt: "a", PromptTokens: 1}, {Prompt: "b", PromptTokens: 2}}
	l := withoutLengths(llmbench.Load{Warmup: requests, Fresh: func(int) ([]llmbench.Request, error) { return requests, io.EOF }})
	fresh, err := l.Fresh(0)
	assert.Equal(t, err, io.EOF)
	want := []llmbench.Request{{Prompt: "a"}, {Prompt: "b"}}
	assert.DeepEqual(t, fresh, want)
	assert.DeepEqual(t, l.Warmup, want)
	assert.Equal(t, requests[1].PromptTokens, 2, "the data set's own requests were changed")
}

// TestTokenizerURL checks that texts are counted by the server that LLMBENCH_TOKENIZER names, which gets no
// credentials if it is on another host, and that the gateway gets no such request.
func TestTokenizerURL(t *testing.T) {
	var key atomic.Value
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Prompt string }
		json.NewDecoder(r.Body).Decode(&q)
		key.Store(r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"count":%d}`, len(strings.Fields(q.Prompt)))
	}))
	defer direct.Close()
	var asked atomic.Int32
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tokenize" {
			asked.Add(1)
		}
		counting(thirds).ServeHTTP(w, r)
	}))
	defer gateway.Close()
	target := llmbench.Target{URL: gateway.URL, Model: "m", Header: http.Header{"Authorization": {"Bearer sk-0123456789"}}}
	elsewhere := strings.Replace(direct.URL, "127.0.0.1", "localhost", 1)
	for url, want := range map[string]string{direct.URL: "Bearer sk-0123456789", elsewhere: ""} {
		c, err := newCounter(t.Context(), target, Options{}, url, true, true, t.Logf)
		assert.NilError(t, err)
		assert.Equal(t, c.tokens.Count("one two three four"), 4)
		assert.Equal(t, key.Load(), want, url)
	}
	assert.Equal(t, asked.Load(), int32(0))
	for url, want := range map[string]string{
		"http://127.0.0.1:1": "LLMBENCH_TOKENIZER: tokenizer: Post \"http://127.0.0.1:1/tokenize\": ",
		gateway.URL:          "LLMBENCH_TOKENIZER: tokenizer: the server has no known tokenizer at " + gateway.URL + "/tokenize: ",
		"http://a:pw@b":      "LLMBENCH_TOKENIZER: URL \"http://b\" with a user or a password",
	} {
		_, err := newCounter(t.Context(), target, Options{}, url, true, true, t.Logf)
		assert.ErrorContains(t, err, want)
	}
}

// TestFewProbes checks which paths of a server are asked, before the measurement, that may be a gateway: none whose
// answer another answer has made certain.
func TestFewProbes(t *testing.T) {
	for name, tt := range map[string]struct {
		tokenize string // the answer of /tokenize; "" means that there is no such path
		want     string
	}{
		"vLLM":      {`{"count":%d}`, "POST /tokenize, POST /tokenize, POST /v1/chat/completions"},
		"a gateway": {"", "GET /api/ps, POST /api/show, POST /tokenize"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var got []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				got = append(got, r.Method+" "+r.URL.Path)
				mu.Unlock()
				if tt.tokenize == "" || r.URL.Path != "/tokenize" {
					http.NotFound(w, r)
					return
				}
				var q struct{ Prompt string }
				json.NewDecoder(r.Body).Decode(&q)
				fmt.Fprintf(w, tt.tokenize, len(strings.Fields(q.Prompt)))
			}))
			defer srv.Close()
			target := llmbench.Target{URL: srv.URL, Model: "m"}
			c, err := newCounter(t.Context(), target, Options{}, "", false, true, t.Logf)
			assert.NilError(t, err)
			limits.Ask(t.Context(), target, !c.noProps, !c.noOllama)
			slices.Sort(got)
			assert.Equal(t, strings.Join(got, ", "), tt.want)
		})
	}
}
