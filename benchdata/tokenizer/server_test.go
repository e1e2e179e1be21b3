package tokenizer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
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
		text, ok := q[map[string]string{"vllm": "prompt", "llamacpp": "content", "tgi": "inputs", "countless": "prompt"}[family]].(string)
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
	for _, family := range []string{"vllm", "llamacpp", "tgi"} {
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

// TestServerFails checks that the tokenizer keeps the first error and sends no request after it.
func TestServerFails(t *testing.T) {
	var left atomic.Int64
	left.Store(3)
	tok, err := NewServer(t.Context(), tokenizing(t, "vllm", Words{}, &left))
	assert.NilError(t, err)
	assert.Equal(t, tok.Count("one two three"), 3)
	assert.NilError(t, tok.Err())
	assert.Equal(t, tok.Count("a b"), 2, "want the number of words")
	assert.ErrorContains(t, tok.Err(), "tokenizer: a text of 3 bytes: ")
	assert.ErrorContains(t, tok.Err(), "HTTP status 500")
	before := left.Load()
	assert.Equal(t, tok.Count("c"), 1)
	assert.Equal(t, left.Load(), before, "a request is sent after an error")
	assert.ErrorContains(t, tok.Err(), "a text of 3 bytes")
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
	assert.Error(t, tok.Err(), "tokenizer: a text of 3 bytes: "+target.URL+`tokenize: HTTP status 500: "no more"`)
}

type constant int

func (c constant) Count(string) int { return int(c) }

// FuzzTokenizeAnswers checks that every answer to /tokenize gives a count or an
// error.
func FuzzTokenizeAnswers(f *testing.F) {
	f.Add([]byte(`{"count":3,"max_model_len":4096,"tokens":[1,2,3],"token_strs":null}`))
	f.Add([]byte(`{"tokens":[1,{"id":2,"piece":"a"},3]}`))
	f.Add([]byte(`[{"id":1,"text":"a","start":0,"stop":1}]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, form := range tokenizeForms {
			if n, err := form.count(answer); n < 0 || n > len(answer) && form.servers != "vLLM and SGLang" || err != nil && n != 0 {
				t.Errorf("%s: %q is %d tokens, %v", form.servers, answer, n, err)
			}
		}
	})
}
