package tokenizer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Server counts tokens by sending texts to the endpoint /tokenize of the server under test. So
// the server's own tokenizer makes the counts. vLLM, SGLang, llama.cpp, TGI and Text Embeddings
// Inference have such an endpoint. A Server is safe for concurrent use.
//
// Each text is one HTTP request with a timeout of 30 seconds. Server keeps the count for the next
// call with the same text. If a request fails for the moment, because a rate limit refuses it, the
// server is busy, or a kept connection was closed, Server sends it again, until such requests
// and the waits after them have taken 20 seconds in all. Then, or if the server refuses a text, it
// sends no more requests, and estimates the tokens of each text by its words and by the texts that
// the server has counted. [Server.Estimates] returns why.
//
// If the context of [NewServer] has ended, [Server.Err] returns why, and counts have no meaning. The
// data sets of package benchdata check Err and return its error instead of requests.
type Server struct {
	ctx    context.Context
	target llmbench.Target
	url    string // URL of the endpoint, without a query
	client *http.Client
	form   tokenizeForm

	mu      sync.Mutex
	counts  map[[sha256.Size]byte]int
	words   int           // words of the texts that the server counted
	tokens  int           // tokens of these texts
	lost    time.Duration // for failed requests and the waits after them; of several at the same time, once
	lostTo  time.Time     // the end of the time that is in lost
	guesses error         // why counts are estimated; nil if they are not
	err     error         // why ctx has ended
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

const llamaCPP = "llama.cpp"

var tokenizeForms = []tokenizeForm{
	{"vLLM and SGLang", func(model, text string) any {
		body := map[string]any{"prompt": text, "add_special_tokens": false}
		if model != "" {
			body["model"] = model
		}
		return body
	}, func(answer []byte) (int, error) {
		var a struct{ Count *int }
		if err := json.Unmarshal(answer, &a); err != nil {
			return 0, err
		}
		if a.Count == nil || *a.Count < 0 {
			return 0, errors.New(`no "count"`)
		}
		return *a.Count, nil
	}},
	{llamaCPP, func(_, text string) any {
		return map[string]any{"content": text, "add_special": false, "parse_special": true}
	}, func(answer []byte) (int, error) {
		var a struct{ Tokens []json.RawMessage }
		if err := json.Unmarshal(answer, &a); err != nil {
			return 0, err
		}
		if a.Tokens == nil {
			return 0, errors.New(`no "tokens"`)
		}
		return len(a.Tokens), nil
	}},
	{"TGI and Text Embeddings Inference", func(_, text string) any {
		return map[string]any{"inputs": text, "add_special_tokens": false}
	}, func(answer []byte) (int, error) {
		var batch [][]json.RawMessage // Text Embeddings Inference answers with a list for each text
		if json.Unmarshal(answer, &batch) == nil && len(batch) == 1 {
			return len(batch[0]), nil
		}
		var a []json.RawMessage
		if err := json.Unmarshal(answer, &a); err != nil {
			return 0, err
		}
		if a == nil {
			return 0, errors.New("no list of tokens")
		}
		return len(a), nil
	}},
}

// Limits of a request to a tokenizer.
const (
	tokenizeTimeout = 30 * time.Second
	tokenizeAtOnce  = 8         // number of requests at the same time
	mostAnswer      = 256 << 20 // largest size of an answer in bytes; some servers list every token
	mostCounts      = 1 << 18   // largest number of counts that are kept
)

// Times for requests that fail for the moment: the first pause, and how long a Server may be held up by them in all.
const (
	firstPause = 50 * time.Millisecond
	patience   = 20 * time.Second
)

// usualPerWord is the number of tokens in a word of English text, by the rule of thumb that 100 tokens are 75 words
// (https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them). It is used if the texts that
// the server has counted have fewer words than enoughWords.
const (
	usualPerWord = 4.0 / 3
	enoughWords  = 50
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
	if _, known := busy.Load(s.url); known {
		s.lost = patience
	}
	var refused []string
	for _, s.form = range tokenizeForms {
		one, err := s.askPatiently("one")
		two, err2 := 0, error(nil)
		if err == nil {
			two, err2 = s.askPatiently("one, and two, and three")
		}
		switch {
		case err != nil:
		case err2 != nil:
			err = err2
		case one < 1 || two <= one:
			err = &refusal{err: fmt.Errorf("the server counts %d tokens in a long text and %d in a short one: want more in the long one", two, one)}
		default:
			busy.Delete(s.url)
			s.lost = 0
			return s, nil
		}
		if _, again := forNow(err, 0); again {
			busy.Store(s.url, true)
		}
		if _, ok := errors.AsType[*refusal](err); !ok {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
		refused = append(refused, fmt.Sprintf("in the form of %s: %v", s.form.servers, err))
		if r, ok := errors.AsType[*refusal](err); ok && slices.Contains(noPath, r.status) {
			break // another form of the body changes nothing
		}
	}
	return nil, fmt.Errorf("tokenizer: %w at %s: %s", ErrNoEndpoint, s.url, strings.Join(refused, "; "))
}

// busy holds the endpoints that refused a NewServer of this process for the moment as long as it was patient. A gateway may
// do so always, for a path that it does not know. The next NewServer asks once.
var busy sync.Map // URL to true

// LlamaCPP reports whether the server has the /tokenize of llama.cpp.
func (s *Server) LlamaCPP() bool { return s.form.servers == llamaCPP }

// Count returns the number of tokens in text. It does not count the tokens that a chat template
// or the tokenizer (begin-of-text) would add.
func (s *Server) Count(text string) int {
	key := sha256.Sum256([]byte(text))
	s.mu.Lock()
	n, known := s.counts[key]
	stopped := s.err != nil || s.guesses != nil
	s.mu.Unlock()
	if known {
		return n
	}
	var err error
	if !stopped {
		n, err = s.askPatiently(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case stopped:
		return s.estimate(text)
	case err != nil && s.ctx.Err() != nil:
		s.err = cmp.Or(s.err, fmt.Errorf("tokenizer: %w", context.Cause(s.ctx)))
		return s.estimate(text)
	case err != nil:
		if _, ok := errors.AsType[*refusal](err); ok {
			err = fmt.Errorf("%s: %w", s.url, err)
		}
		s.guesses = cmp.Or(s.guesses, fmt.Errorf("tokenizer: a text of %d bytes: %w", len(text), err))
		return s.estimate(text)
	}
	if len(s.counts) >= mostCounts {
		clear(s.counts)
	}
	s.counts[key] = n
	s.words += Words{}.Count(text)
	s.tokens += n
	return n
}

// estimate returns the probable number of tokens in text. The caller must hold s.mu.
func (s *Server) estimate(text string) int {
	perWord := usualPerWord
	if s.words >= enoughWords {
		perWord = float64(s.tokens) / float64(s.words)
	}
	return int(math.Round(perWord * float64(Words{}.Count(text))))
}

// Estimates returns why Count estimates, or nil if it does not.
func (s *Server) Estimates() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guesses
}

// Err returns why the context has ended, if a request failed for that reason, or nil.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// askPatiently is like ask, but sends a text again if the request failed for the moment.
func (s *Server) askPatiently(text string) (int, error) {
	for pause := firstPause; ; pause *= 2 {
		began := time.Now()
		n, err := s.ask(text)
		wait, again := forNow(err, pause)
		if !again || !s.lose(began, wait) {
			return n, err
		}
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return 0, err
		}
	}
}

// lose adds the time of a failed request, which began at an instant, and of the wait after it to the time that was lost.
// If this were more than patience in all, lose adds nothing and returns false.
func (s *Server) lose(began time.Time, wait time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := time.Now().Add(wait)
	if began.Before(s.lostTo) {
		began = s.lostTo
	}
	more := max(0, to.Sub(began))
	if s.lost+more > patience {
		return false
	}
	if s.lost += more; to.After(s.lostTo) {
		s.lostTo = to
	}
	return true
}

// forNow reports whether a request that failed with err may succeed later, and how long to wait: as long as the
// server asks, or else for the given pause.
func forNow(err error, pause time.Duration) (wait time.Duration, again bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return cmp.Or(r.retryAfter, pause), slices.Contains(momentary, r.status)
	}
	return pause, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// noPath lists statuses that say that there is no such endpoint.
var noPath = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// momentary lists statuses with which servers and gateways refuse a request for the moment.
var momentary = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
	http.StatusGatewayTimeout, 529,
}

// AtOnce returns the number of goroutines that should call Count at the same time.
func (s *Server) AtOnce() int { return tokenizeAtOnce }

// A refusal is the error of an HTTP answer that is not usable.
type refusal struct {
	err        error
	status     int           // of the answer; 0 if it has no count
	retryAfter time.Duration // what the server asks to wait; 0 if it does not
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// model returns the name of the model in requests: the target's, unless its Body changes or removes it.
func (s *Server) model() string {
	name := s.target.Model
	changed := struct{ Model *string }{&name}
	if len(s.target.Body) > 0 && json.Unmarshal(s.target.Body, &changed) == nil && changed.Model == nil {
		return ""
	}
	return name
}

// ask asks the server for the number of tokens in text.
func (s *Server) ask(text string) (int, error) {
	got, err := post(s.ctx, s.client, s.target, s.url, s.form.body(s.model(), text))
	if err != nil {
		return 0, err
	}
	n, err := s.form.count(got)
	if err != nil {
		return 0, &refusal{err: fmt.Errorf("no count in the answer: %w: %q", err, excerpt(s.target, got))}
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
	r.Header["Idempotency-Key"] = nil // net/http then sends the request again if a kept connection was closed, and no such field
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
		seconds, _ := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16) // without it, or with a date, 0
		err := fmt.Errorf("HTTP status %d: %q", res.StatusCode, excerpt(t, answer))
		if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" { // a page of a proxy
			err = fmt.Errorf("HTTP status %d", res.StatusCode)
		}
		return nil, &refusal{err, res.StatusCode, time.Duration(seconds) * time.Second}
	}
	return answer, nil
}

// excerpt returns the beginning of an answer, with credentials removed.
func excerpt(t llmbench.Target, answer []byte) string {
	return t.Excerpt(string(bytes.TrimSpace(answer)), 200)
}
