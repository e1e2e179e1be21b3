package benchdata

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// tokenizing is a server with a /tokenize of one family, which counts by tok,
// as long as there is an answer left.
func tokenizing(t *testing.T, family string, tok llmbench.Tokenizer, left *atomic.Int64) llmbench.Target {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/tokenize" || r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		text, ok := q[map[string]string{"vllm": "prompt", "llamacpp": "content", "tgi": "inputs", "silent": "prompt"}[family]].(string)
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
		case "silent":
			answer = map[string]any{"tokens": "many"}
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(srv.Close)
	return llmbench.Target{URL: srv.URL + "/", Model: "m", Header: http.Header{"authorization": {"Bearer k"}}}
}

func TestServerTokenizer(t *testing.T) {
	exact := load(t, "testdata/qwen2-style.json")
	for _, family := range []string{"vllm", "llamacpp", "tgi"} {
		var left atomic.Int64
		left.Store(1e6)
		tok, err := NewServerTokenizer(t.Context(), tokenizing(t, family, exact, &left))
		assert.NilError(t, err)
		want, err := Prompts{Input: 100, Output: 1, Tokenizer: exact}.Requests(50)
		assert.NilError(t, err)
		got, err := Prompts{Input: 100, Output: 1, Tokenizer: tok}.Requests(50)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want) // though several are asked for at once
		asked := left.Load()
		_, err = Prompts{Input: 100, Output: 1, Tokenizer: tok}.Requests(50)
		assert.NilError(t, err)
		assert.Equal(t, left.Load(), asked) // all counts are known
	}
}

// TestServerTokenizerFails: every data set returns the tokenizer's error, and no
// requests of lengths that nobody counted.
func TestServerTokenizerFails(t *testing.T) {
	for _, answers := range []int64{2, 3, 7, 40} {
		for name, spec := range specs(t) {
			var left atomic.Int64
			left.Store(answers)
			tok, err := NewServerTokenizer(t.Context(), tokenizing(t, "vllm", Words{}, &left))
			assert.NilError(t, err)
			w, err := Open(spec, Options{Tokenizer: tok, Seed: 1})
			assert.NilError(t, err)
			requests, err := w.Requests(20)
			if left.Load() >= 0 {
				assert.NilError(t, err) // it asked no more than that
				continue
			}
			assert.ErrorContains(t, err, "tokenizer: a text of ")
			assert.ErrorContains(t, err, "HTTP status 500")
			assert.Assert(t, requests == nil, "%s", name)
			asked := left.Load()
			tok.Count("something else")
			assert.Equal(t, left.Load(), asked, "it asks on")
		}
	}
}

func TestNoServerTokenizer(t *testing.T) {
	var left atomic.Int64
	left.Store(1e6)
	for _, family := range []string{"none", "silent"} {
		_, err := NewServerTokenizer(t.Context(), tokenizing(t, family, Words{}, &left))
		assert.ErrorIs(t, err, ErrNoTokenizer)
	}
	// One that says the same of every text is none.
	_, err := NewServerTokenizer(t.Context(), tokenizing(t, "vllm", constant(7), &left))
	assert.ErrorIs(t, err, ErrNoTokenizer)
	// What is no answer at all is another matter.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = NewServerTokenizer(ctx, tokenizing(t, "vllm", Words{}, &left))
	assert.Assert(t, errors.Is(err, context.Canceled) && !errors.Is(err, ErrNoTokenizer), "%v", err)
}

// TestServerTokenizerRefused: a refusal names the URL, and begins the answer,
// without the key in either.
func TestServerTokenizerRefused(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{"no model m for Bearer sk-secret-key\n", `HTTP status 418: "no model m for [redacted]"; as of llama.cpp: `},
		{strings.Repeat("x", 195) + "sk-secret-key, and so on", "x[reda…"},
		{strings.Repeat("é", 101), "é…"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, tt.answer)
		}))
		at := strings.Replace(srv.URL, "://", "://me:pa55word@", 1) + "/base/"
		_, err := NewServerTokenizer(t.Context(), llmbench.Target{URL: at, Header: http.Header{"Authorization": {"Bearer sk-secret-key"}}})
		srv.Close()
		assert.ErrorIs(t, err, ErrNoTokenizer)
		assert.ErrorContains(t, err, "tokenizer: the server has no /tokenize that is known at "+srv.URL+"/base/tokenize: as of vLLM and SGLang: HTTP status 418: ")
		assert.ErrorContains(t, err, tt.want)
		for _, secret := range []string{"secret", "pa55word"} {
			assert.Assert(t, !strings.Contains(err.Error(), secret), "%v", err)
		}
		assert.Assert(t, len(err.Error()) < 1000, "%v", err)
	}
	// One that answered once.
	var left atomic.Int64
	left.Store(2)
	target := tokenizing(t, "vllm", Words{}, &left)
	tok, err := NewServerTokenizer(t.Context(), target)
	assert.NilError(t, err)
	tok.Count("abc")
	assert.Error(t, tok.Err(), "tokenizer: a text of 3 bytes: "+target.URL+`tokenize: HTTP status 500: "no more"`)
}

type constant int

func (c constant) Count(string) int { return int(c) }
