package tokenizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// tokenizing starts a server with the endpoint /tokenize of one family of servers. It counts tokens
// with tok. left is the number of requests that it answers; after that it answers with errors.
func tokenizing(t *testing.T, family string, tok llmbench.Tokenizer, left *atomic.Int64) llmbench.Target {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/tokenize" || r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		text, ok := q[map[string]string{"vllm": "prompt", "llamacpp": "content", "tgi": "inputs", "tei": "inputs", "countless": "prompt"}[family]].(string)
		if !ok {
			http.Error(w, "no", http.StatusUnprocessableEntity)
			return
		}
		if left.Add(-1) < 0 {
			http.Error(w, "no more", http.StatusInternalServerError)
			return
		}
		n := tok.Count(text)
		var answer any
		switch family {
		case "vllm":
			answer = map[string]any{"count": n, "max_model_len": 4096, "tokens": make([]int, n)}
		case "llamacpp":
			answer = map[string]any{"tokens": make([]int, n)}
		case "tgi":
			answer = make([]struct{ ID int }, n)
		case "tei":
			answer = [][]struct{ ID int }{make([]struct{ ID int }, n)}
		case "countless":
			answer = map[string]any{"tokens": "many"}
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(srv.Close)
	return llmbench.Target{URL: srv.URL + "/", Model: "m", Header: http.Header{"authorization": {"Bearer k"}}}
}

func TestServer(t *testing.T) {
	exact := load(t, "testdata/qwen2-style.json")
	for _, family := range []string{"vllm", "llamacpp", "tgi", "tei"} {
		var left atomic.Int64
		left.Store(1e6)
		tok, err := NewServer(t.Context(), tokenizing(t, family, exact, &left))
		assert.NilError(t, err)
		var all sync.WaitGroup
		for i, text := range fragments {
			all.Go(func() {
				if got, want := tok.Count(text), exact.Count(text); got != want {
					t.Errorf("%s: Count(fragments[%d]) = %d, want %d", family, i, got, want)
				}
			})
		}
		all.Wait()
		assert.NilError(t, tok.Err())
		before := left.Load()
		for _, text := range fragments {
			tok.Count(text)
		}
		assert.Equal(t, left.Load(), before, "a text that was counted is sent again")
	}
}

// TestServerModel checks which model a server is asked for if the target's Body changes the model.
func TestServerModel(t *testing.T) {
	for body, want := range map[string]string{"": "m", `{"model":"other"}`: "other", `{"model":null}`: "", `{"top_k":1}`: "m"} {
		s := &Server{target: llmbench.Target{Model: "m", Body: json.RawMessage(body)}}
		assert.Equal(t, s.model(), want, body)
		assert.Equal(t, s.target.Model, "m")
	}
}

// TestServerFails checks that the tokenizer estimates when the server refuses a text, and sends no
// request after that.
func TestServerFails(t *testing.T) {
	var left atomic.Int64
	left.Store(4)
	tok, err := NewServer(t.Context(), tokenizing(t, "vllm", double{}, &left))
	assert.NilError(t, err)
	assert.Equal(t, tok.Count("one two three"), 6)
	assert.Equal(t, tok.Count(strings.Repeat("word ", 100)), 200)
	assert.NilError(t, tok.Estimates())
	assert.Equal(t, tok.Count("a b"), 4, "want two tokens a word, as in the other texts")
	assert.NilError(t, tok.Err())
	assert.ErrorContains(t, tok.Estimates(), "tokenizer: a text of 3 bytes: ")
	assert.ErrorContains(t, tok.Estimates(), "HTTP status 500")
	before := left.Load()
	assert.Equal(t, tok.Count("c"), 2)
	assert.Equal(t, left.Load(), before, "a request is sent although counts are estimated")
	assert.ErrorContains(t, tok.Estimates(), "a text of 3 bytes", "want the first reason")
}

// double counts two tokens a word.
type double struct{}

func (double) Count(text string) int { return 2 * Words{}.Count(text) }

// TestServerPatient checks, in virtual time, which failures are sent again, how long, and what follows.
func TestServerPatient(t *testing.T) {
	for _, tt := range []struct {
		name       string
		status     int // of the refusals; 0 closes the connection
		retryAfter string
		refusals   int
		estimates  bool
		least      time.Duration // that Count takes
		most       time.Duration
	}{
		{"a rate limit", 429, "", 4, false, 700 * time.Millisecond, time.Second},
		{"a rate limit with Retry-After", 429, "3", 2, false, 6 * time.Second, 7 * time.Second},
		{"a full queue", 503, "", 1, false, 0, time.Second},
		{"a rate limit without end", 429, "", 1000, true, 5 * time.Second, patience},
		{"a rate limit for an hour", 429, "3600", 1000, true, 0, time.Second},
		{"closed connections", 0, "", 3, false, 0, time.Second},
		{"no such text", 400, "", 1, true, 0, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := 0
				ln := memnet.Listen()
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var q struct{ Prompt string }
					json.NewDecoder(r.Body).Decode(&q)
					if left--; left < 0 {
						fmt.Fprintf(w, `{"count":%d}`, Words{}.Count(q.Prompt))
						return
					}
					if tt.status == 0 {
						panic(http.ErrAbortHandler)
					}
					if tt.retryAfter != "" {
						w.Header().Set("Retry-After", tt.retryAfter)
					}
					w.WriteHeader(tt.status)
				})}
				var wg sync.WaitGroup
				wg.Go(func() { srv.Serve(ln) })
				defer func() { srv.Close(); wg.Wait() }()
				tok, err := NewServer(t.Context(), llmbench.Target{URL: "http://mem", Model: "m", Dial: ln.Dial})
				assert.NilError(t, err)
				left = tt.refusals
				began := time.Now()
				n := tok.Count("one two three")
				took := time.Since(began)
				assert.NilError(t, tok.Err())
				assert.Equal(t, tok.Estimates() != nil, tt.estimates, "%v", tok.Estimates())
				assert.Equal(t, n, map[bool]int{false: 3, true: 4}[tt.estimates])
				assert.Assert(t, took >= tt.least && took <= tt.most, "took %v", took)
			})
		})
	}
}

// TestServerPatientLater checks that one failure does not use up the patience for another one, minutes later, and that
// many together do.
func TestServerPatientLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{}
		for range 30 {
			assert.Assert(t, s.lose(time.Now(), firstPause))
			time.Sleep(time.Minute)
		}
		for range 8 { // at the same time
			assert.Assert(t, s.lose(time.Now(), 10*time.Second))
		}
		time.Sleep(10 * time.Second)
		assert.Assert(t, !s.lose(time.Now(), 10*time.Second))
		assert.Assert(t, s.lose(time.Now(), 8*time.Second))
	})
}

// TestServerAlwaysBusy checks that only the first NewServer is patient with a gateway that refuses the path for the moment.
func TestServerAlwaysBusy(t *testing.T) {
	defer busy.Clear()
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })}
		var wg sync.WaitGroup
		wg.Go(func() { srv.Serve(ln) })
		defer func() { srv.Close(); wg.Wait() }()
		for _, first := range []bool{true, false} {
			began := time.Now()
			_, err := NewServer(t.Context(), llmbench.Target{URL: "http://busy", Model: "m", Dial: ln.Dial})
			assert.ErrorIs(t, err, ErrNoEndpoint)
			took := time.Since(began)
			assert.Assert(t, first && took > 5*time.Second && took <= patience || !first && took == 0, "took %v", took)
		}
	})
}

func TestNoServer(t *testing.T) {
	var left atomic.Int64
	left.Store(1e6)
	for _, family := range []string{"none", "countless"} {
		_, err := NewServer(t.Context(), tokenizing(t, family, Words{}, &left))
		assert.ErrorIs(t, err, ErrNoEndpoint)
	}
	// A server that returns the same count for every text has no tokenizer.
	_, err := NewServer(t.Context(), tokenizing(t, "vllm", constant(7), &left))
	assert.ErrorIs(t, err, ErrNoEndpoint)
	// A request without an answer is a different error.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = NewServer(ctx, tokenizing(t, "vllm", Words{}, &left))
	assert.Assert(t, errors.Is(err, context.Canceled) && !errors.Is(err, ErrNoEndpoint), "%v", err)
}

// TestServerRefusal checks that the error for an HTTP status contains the URL and the beginning of
// the answer, both without secrets.
func TestServerRefusal(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{"no model m for Bearer sk-secret-key\n", `HTTP status 418: "no model m for [redacted]"; in the form of llama.cpp: `},
		{strings.Repeat("x", 195) + "sk-secret-key, and so on", "x[reda…"},
		{strings.Repeat("é", 101), "é…"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, tt.answer)
		}))
		at := srv.URL + "/base/v1/?key=pa55word"
		_, err := NewServer(t.Context(), llmbench.Target{URL: at, Header: http.Header{"Authorization": {"Bearer sk-secret-key"}}})
		srv.Close()
		assert.ErrorIs(t, err, ErrNoEndpoint)
		assert.ErrorContains(t, err, "tokenizer: the server has no known tokenizer at "+srv.URL+"/base/tokenize: in the form of vLLM and SGLang: HTTP status 418: ")
		assert.ErrorContains(t, err, tt.want)
		for _, secret := range []string{"secret", "pa55word"} {
			assert.Assert(t, !strings.Contains(err.Error(), secret), "%v", err)
		}
		assert.Assert(t, len(err.Error()) < 1000, "%v", err)
	}
	// The server answers NewServer, and refuses the first Count.
	var left atomic.Int64
	left.Store(2)
	target := tokenizing(t, "vllm", Words{}, &left)
	tok, err := NewServer(t.Context(), target)
	assert.NilError(t, err)
	tok.Count("abc")
	assert.Error(t, tok.Estimates(), "tokenizer: a text of 3 bytes: "+target.URL+`tokenize: HTTP status 500: "no more"`)
}

type constant int

func (c constant) Count(string) int { return int(c) }

// FuzzTokenizeAnswers checks that every answer to /tokenize gives a count or an
// error.
func FuzzTokenizeAnswers(f *testing.F) {
	f.Add([]byte(`{"count":3,"max_model_len":4096,"tokens":[1,2,3],"token_strs":null}`))
	f.Add([]byte(`{"tokens":[1,{"id":2,"piece":"a"},3]}`))
	f.Add([]byte(`[{"id":1,"text":"a","start":0,"stop":1}]`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"tokens":4,"tokens":[1]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, form := range tokenizeForms {
			if n, err := form.count(answer); n < 0 || n > len(answer) && form.servers != "vLLM and SGLang" || err != nil && n != 0 || err == nil && string(bytes.TrimSpace(answer)) == "null" {
				t.Errorf("%s: %q is %d tokens, %v", form.servers, answer, n, err)
			}
		}
	})
}
