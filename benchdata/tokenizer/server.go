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
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// Server counts tokens by asking the server under test, at its
// endpoint /tokenize: the tokenizer that will read the prompts. vLLM, SGLang,
// llama.cpp and TGI have one. It is safe for concurrent use.
//
// Each new text is one request, with a deadline of its own; counts are kept.
// [llmbench.Tokenizer] has no error, so the first one is kept for Err, and from
// then on nothing is asked any more. The data sets of this package look at it:
// they return it instead of requests.
type Server struct {
	ctx    context.Context
	target llmbench.Target
	client *http.Client
	form   tokenizeForm

	mu     sync.Mutex
	counts map[[sha256.Size]byte]int
	err    error
}

// ErrNoEndpoint is the error, wrapped with what the server said, of a server
// that has no endpoint /tokenize of a kind that is known.
var ErrNoEndpoint = errors.New("the server has no /tokenize that is known")

// tokenizeForm is what one family of servers wants, and answers.
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
	tokenizeAtOnce  = 8
	mostAnswer      = 256 << 20 // bytes; some servers answer with every token
	mostCounts      = 1 << 18   // that are kept
)

// NewServer returns the tokenizer of a server, after asking it how many
// tokens two texts are. The error wraps [ErrNoEndpoint] when the server answers
// no known form of the question. ctx is for as long as the tokenizer is used.
func NewServer(ctx context.Context, t llmbench.Target) (*Server, error) {
	transport := &http.Transport{
		MaxIdleConnsPerHost: tokenizeAtOnce,
		MaxConnsPerHost:     tokenizeAtOnce,
		IdleConnTimeout:     time.Second, // no server shall wait for more
		DialContext:         t.Dial,
	}
	if !t.NoProxy {
		transport.Proxy = http.ProxyFromEnvironment
	}
	s := &Server{ctx: ctx, target: t, client: &http.Client{Transport: transport, CheckRedirect: noRedirect}, counts: map[[sha256.Size]byte]int{}}
	var refused []string
	for _, s.form = range tokenizeForms {
		one, err := s.ask("one")
		two, err2 := s.ask("one, and two, and three")
		switch {
		case err != nil:
		case err2 != nil:
			err = err2
		case one < 1 || two <= one:
			err = &refusal{fmt.Errorf("a longer text has %d tokens, and a shorter %d", two, one)}
		default:
			return s, nil
		}
		if _, ok := errors.AsType[*refusal](err); !ok {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
		refused = append(refused, fmt.Sprintf("as of %s: %v", s.form.servers, err))
	}
	return nil, fmt.Errorf("tokenizer: %w at %s: %s", ErrNoEndpoint, s.where(), strings.Join(refused, "; "))
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Count returns the number of tokens in text, without those that a template or
// the model would put around it. After an error it returns the number of words.
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
			err = fmt.Errorf("%s: %w", s.where(), err)
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

// Err returns why the tokenizer stopped asking, or nil.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// AtOnce is how many texts the tokenizer may be asked about at once.
func (s *Server) AtOnce() int { return tokenizeAtOnce }

// A refusal is an answer that is none.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// ask asks the server.
func (s *Server) ask(text string) (int, error) {
	ctx, cancel := context.WithTimeout(s.ctx, tokenizeTimeout)
	defer cancel()
	body, err := json.Marshal(s.form.body(s.target.Model, text))
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.target.URL, "/")+"/tokenize", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, values := range s.target.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, &refusal{fmt.Errorf("HTTP status %d: %q", answer.StatusCode, s.excerpt(got))}
	}
	n, err := s.form.count(got)
	if err != nil {
		return 0, &refusal{fmt.Errorf("not an answer of a tokenizer: %w: %q", err, s.excerpt(got))}
	}
	return n, nil
}

// where is the URL that is asked, without credentials.
func (s *Server) where() string {
	u, err := url.Parse(s.target.URL)
	if err != nil {
		return "/tokenize"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).JoinPath("tokenize").String()
}

// excerpt is the beginning of an answer, without credentials.
func (s *Server) excerpt(answer []byte) string {
	const most = 200 // bytes
	text := strings.TrimSpace(s.target.Redact(string(answer[:min(len(answer), 4<<10)])))
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + dialect.Cut
	}
	return text
}
