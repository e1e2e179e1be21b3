package tokenizer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Server counts tokens by sending texts to the endpoint /tokenize of the server under test. So
// the server's own tokenizer makes the counts. vLLM, SGLang, llama.cpp and TGI have such an
// endpoint. A Server is safe for concurrent use.
//
// Each text is one HTTP request with a timeout of 30 seconds. Server keeps the count for the next
// call with the same text. The method Count of [llmbench.Tokenizer] cannot return an error, so
// [Server.Err] returns the first error. After an error, Server sends no more requests. The data
// sets of package benchdata check Err and return its error instead of requests.
type Server struct {
	ctx    context.Context
	target llmbench.Target
	url    string // URL of the endpoint, without a query
	client *http.Client
	form   tokenizeForm

	mu     sync.Mutex
	counts map[[sha256.Size]byte]int
	err    error
}

// ErrNoEndpoint means that the server has no endpoint for its tokenizer, or that this package
// does not understand the endpoint's answers.
var ErrNoEndpoint = errors.New("the server has no known tokenizer")

// A tokenizeForm is the format of requests to /tokenize and their answers in a family of servers.
type tokenizeForm struct {
	servers string
	body    func(model, text string) any
	count   func(answer []byte) (int, error)
}

var tokenizeForms = []tokenizeForm{
	{"vLLM and SGLang", func(model, text string) any {
		body := map[string]any{"prompt": text, "add_special_tokens": false}
		if model != "" {
			body["model"] = model
		}
		return body
	}, func(answer []byte) (int, error) {
		var a struct{ Count *int }
		err := json.Unmarshal(answer, &a)
		if err == nil && (a.Count == nil || *a.Count < 0) {
			err = errors.New(`no "count"`)
		}
		if err != nil {
			return 0, err
		}
		return *a.Count, nil
	}},
	{"llama.cpp", func(_, text string) any {
		return map[string]any{"content": text, "add_special": false, "parse_special": true}
	}, func(answer []byte) (int, error) {
		var a struct{ Tokens []json.RawMessage }
		err := json.Unmarshal(answer, &a)
		if err == nil && a.Tokens == nil {
			err = errors.New(`no "tokens"`)
		}
		return len(a.Tokens), err
	}},
	{"TGI", func(_, text string) any {
		return map[string]any{"inputs": text, "add_special_tokens": false}
	}, func(answer []byte) (int, error) {
		var a []json.RawMessage
		err := json.Unmarshal(answer, &a)
		return len(a), err
	}},
}

// Limits of a request to a tokenizer.
const (
	tokenizeTimeout = 30 * time.Second
	tokenizeAtOnce  = 8         // number of requests at the same time
	mostAnswer      = 256 << 20 // largest size of an answer in bytes; some servers list every token
	mostCounts      = 1 << 18   // largest number of counts that are kept
)

// NewServer returns the tokenizer of the server t. It sends two texts in each known format of
// requests, to find the format that the server understands. The error wraps [ErrNoEndpoint] if
// the server understands none. ctx also applies to all later requests of the tokenizer.
func NewServer(ctx context.Context, t llmbench.Target) (*Server, error) {
	base, client, err := t.Client()
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	s := &Server{ctx: ctx, target: t, url: base + "/tokenize", client: client, counts: map[[sha256.Size]byte]int{}}
	var refused []string
	for _, s.form = range tokenizeForms {
		one, err := s.ask("one")
		two, err2 := s.ask("one, and two, and three")
		switch {
		case err != nil:
		case err2 != nil:
			err = err2
		case one < 1 || two <= one:
			err = &refusal{fmt.Errorf("the server counts %d tokens in a long text and %d in a short one; want more in the long one", two, one)}
		default:
			return s, nil
		}
		if _, ok := errors.AsType[*refusal](err); !ok {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
		refused = append(refused, fmt.Sprintf("in the form of %s: %v", s.form.servers, err))
	}
	return nil, fmt.Errorf("tokenizer: %w at %s: %s", ErrNoEndpoint, s.url, strings.Join(refused, "; "))
}

// Count returns the number of tokens in text. It does not count the tokens that a chat template
// or the tokenizer (begin-of-text) would add. After an error, Count returns the number of words.
func (s *Server) Count(text string) int {
	key := sha256.Sum256([]byte(text))
	s.mu.Lock()
	n, known := s.counts[key]
	err := s.err
	s.mu.Unlock()
	if known {
		return n
	}
	if err == nil {
		n, err = s.ask(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if _, ok := errors.AsType[*refusal](err); ok {
			err = fmt.Errorf("%s: %w", s.url, err)
		}
		if s.err == nil {
			s.err = fmt.Errorf("tokenizer: a text of %d bytes: %w", len(text), err)
		}
		return Words{}.Count(text)
	}
	if len(s.counts) >= mostCounts {
		clear(s.counts)
	}
	s.counts[key] = n
	return n
}

// Err returns the first error of a request, or nil. After this error the tokenizer sends no more
// requests.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// AtOnce returns the number of goroutines that should call Count at the same time.
func (s *Server) AtOnce() int { return tokenizeAtOnce }

// A refusal is the error of an HTTP answer that is not usable.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// ask asks the server for the number of tokens in text.
func (s *Server) ask(text string) (int, error) {
	got, err := post(s.ctx, s.client, s.target, s.url, s.form.body(s.target.Model, text))
	if err != nil {
		return 0, err
	}
	n, err := s.form.count(got)
	if err != nil {
		return 0, &refusal{fmt.Errorf("no count in the answer: %w: %q", err, excerpt(s.target, got))}
	}
	return n, nil
}

// post sends body as JSON to a URL of t and returns the body of the answer. If the status is not 200, the
// error is a [*refusal].
func post(ctx context.Context, client *http.Client, t llmbench.Target, url string, body any) (answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, tokenizeTimeout)
	defer cancel()
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, &refusal{fmt.Errorf("HTTP status %d: %q", res.StatusCode, excerpt(t, answer))}
	}
	return answer, nil
}

// excerpt returns the beginning of an answer, with credentials removed.
func excerpt(t llmbench.Target, answer []byte) string {
	return t.Excerpt(string(bytes.TrimSpace(answer)), 200)
}
