package send

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

const (
	// maxBody is how much of an answer that is not a stream is read, in bytes.
	maxBody = 64 << 20
	// maxText is how much generated text of a stream is read, in characters.
	maxText = 64 << 20
	// deltasPerToken and moreDeltas bound the deltas of a stream: deltasPerToken for each
	// token that was allowed, and moreDeltas more. Most servers send at most one delta a token;
	// some proxies divide the text of a token.
	deltasPerToken = 8
	moreDeltas     = 64
	// maxErrorBody is how much is kept of an answer whose status is an error, in bytes.
	maxErrorBody = 4 << 10
	// maxDrained is how much more of such an answer is read, in bytes, so that the
	// connection can be used again.
	maxDrained = 256 << 10
	// errorBodyTime is how long the body of such an answer may take.
	errorBodyTime = 10 * time.Second
)

// A reader reads the answers to the requests of one worker, one after the other.
type reader struct {
	options *Options
	server  *Server
	clock   conn.Clock

	src    conn.Reader // the body of the answer
	body   io.Reader   // src, or what decodes it
	sse    *sse.Decoder
	parser dialect.Parser
	delta  dialect.Delta // the event that was parsed last
	parsed int           // events of the stream that were parsed whole, up to parsedApart

	part       conn.Arrival  // of the beginning of the next event; zero if none of it was read
	arrivals   conn.Arrivals // of the deltas with generated text
	batch      batch         // the deltas of the last batch of bytes
	merged     []sample.Merged
	tokens     []int32 // of the deltas so far, where the server states them
	early      int     // tokens that came before the text of their delta
	leaveAfter int     // number of deltas after which the client leaves; 0: never
	keepText   bool
	text       *dialect.Delta // the text generated so far, if keepText; else nil
}

func (r *reader) init(o *Options, s *Server, clock conn.Clock, events *sse.Budget) {
	*r = reader{options: o, server: s, clock: clock, parser: s.Dialect.NewParser()}
	r.keepText = o.keepsText()
	r.sse = sse.NewDecoder(&r.src)
	r.sse.Budget = events
}

// reset prepares r for the answer to another request. The client leaves after leaveAfter
// deltas, or never if it is 0.
func (r *reader) reset(leaveAfter int) {
	r.leaveAfter = leaveAfter
	r.arrivals.Reset()
	r.batch, r.merged = batch{}, r.merged[:0]
	r.tokens, r.early = r.tokens[:0], 0
	if r.text = nil; r.keepText {
		r.text = &dialect.Delta{}
	}
}

// read reads the answer to its end.
func (r *reader) read(ctx context.Context, resp *http.Response, s *sample.Sample, giveUp context.CancelCauseFunc) (err error) {
	streamed := false
	conn.Apart(func() { streamed, err = r.readUnlessStream(ctx, resp, s, giveUp) })
	if !streamed {
		return err
	}
	return r.readStream(ctx, s, giveUp)
}

// readUnlessStream reads the answer to its end if it is no stream, and otherwise prepares r for
// the stream.
func (r *reader) readUnlessStream(ctx context.Context, resp *http.Response, s *sample.Sample, giveUp context.CancelCauseFunc) (streamed bool, err error) {
	err = r.decode(resp.Header.Get("Content-Encoding"))
	if resp.StatusCode < 200 || resp.StatusCode > 299 { // the status is the failure, whatever the encoding
		s.RetryAfter = retryAfter(resp.Header, time.Now())
		defer time.AfterFunc(errorBodyTime, func() { giveUp(nil) }).Stop()
		if to := resp.Header.Get("Location"); to != "" {
			return false, fail(sample.HTTP, "status %s: redirects are not followed, and this one leads to %s: %s", resp.Status, r.server.Secrets.Excerpt(to, 300), r.errorBody())
		}
		return false, fail(sample.HTTP, "status %s: %s", resp.Status, r.errorBody())
	}
	if err != nil {
		return false, err
	}
	r.parser.Reset()
	r.parsed = 0
	if !s.Streamed {
		if d, ok := r.server.Dialect.(headerTimer); ok {
			s.Server = sample.ServerTimings(d.Timings(resp.Header))
		}
		return false, r.readWhole(ctx, s)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/json" || kind == "text/html" {
		return false, r.readOther(ctx, kind)
	}
	r.sse.Format = sse.FormatOf(kind)
	r.sse.Reset(r.body)
	return true, nil
}

// decode makes r.body the body of an answer with the given Content-Encoding. It returns an error if
// that is not one that can be decoded, or not allowed.
func (r *reader) decode(encoding string) error {
	r.body = &r.src
	if encoding == "" || encoding == "identity" {
		if !r.src.CanAwait() { // so that the decoder keeps its buffer, which it needs while Read waits
			r.body = struct{ io.Reader }{&r.src}
		}
		return nil
	}
	body, err := endpoint.NewInflater(encoding, &r.src)
	if err != nil {
		return failure{sample.Malformed, err}
	}
	r.body = body
	if !r.server.Compressed {
		return fail(sample.Malformed, "content encoding %q, which was not asked for; LLMBENCH_COMPRESSED=1 or Target.Compressed allows it", encoding)
	}
	return nil
}

// retryAfter returns how long a server asks the client to wait: the seconds in the header, or the
// time from the date of the answer, or else from now, to the date in the header. It returns 0 if there
// is no such header, or one that cannot be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil { // the server's clock may differ
		now = date
	}
	return max(0, until.Sub(now))
}

// errorBody reads the body of an answer whose status is an error, and returns its beginning
// without secrets. The status is the failure, so that errors of the body are ignored.
func (r *reader) errorBody() string {
	most := maxErrorBody + r.server.Secrets.Longest()
	body, _ := io.ReadAll(io.LimitReader(r.body, int64(most)))
	text := string(body)
	if len(text) == most { // the end may be within a secret
		text += redact.Cut
	}
	io.Copy(io.Discard, io.LimitReader(r.body, maxDrained))
	return r.server.Secrets.Excerpt(strings.TrimSpace(text), maxErrorBody)
}

// A headerTimer is a dialect whose servers state timings in the header of an answer that is
// not streamed.
type headerTimer interface {
	Timings(http.Header) dialect.Timings
}

// readWhole reads an answer that is not streamed.
func (r *reader) readWhole(ctx context.Context, s *sample.Sample) error {
	body, err := io.ReadAll(io.LimitReader(r.body, maxBody+1))
	switch {
	case err != nil:
		return interrupted(ctx, r.options, sample.Truncated, err)
	case len(body) > maxBody:
		return fail(sample.Malformed, "answer of more than %d bytes", maxBody)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	}
	s.Events = 1
	if err := r.parser.Body(body, &r.delta); err != nil {
		return failure{sample.Malformed, err}
	}
	s.Finish = r.delta.Finish
	if r.delta.Fault != "" {
		return fail(sample.ServerError, "%s", r.delta.Fault)
	}
	r.addText(s)
	if r.delta.Timings != (dialect.Timings{}) {
		s.Server = sample.ServerTimings(r.delta.Timings)
	}
	return r.countTokens(s, r.delta.Usage, 0, r.delta.Generated())
}

// readOther reads an answer that is not a stream although a stream was asked for. It
// returns the failure.
func (r *reader) readOther(ctx context.Context, kind string) error {
	body, err := io.ReadAll(io.LimitReader(r.body, maxBody))
	switch {
	case err != nil:
		return interrupted(ctx, r.options, sample.Truncated, err)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	case r.parser.Body(body, &r.delta) == nil && r.delta.Fault != "":
		return fail(sample.ServerError, "%s", r.delta.Fault)
	}
	return fail(sample.Malformed, "a stream was asked for and %s came: %q", kind, r.server.Secrets.Excerpt(string(body), 200))
}

// addText counts the characters of the last delta, and keeps its text if it is needed.
func (r *reader) addText(s *sample.Sample) {
	t, d := r.text, &r.delta
	s.OutputChars += utf8.RuneCount(d.Reasoning) + utf8.RuneCount(d.Text) + utf8.RuneCount(d.ToolCall)
	if !r.keepText {
		return
	}
	t.Reasoning = append(t.Reasoning, d.Reasoning...)
	t.Text = append(t.Text, d.Text...)
	t.ToolName = dialect.AppendName(t.ToolName, d.ToolName)
	t.ToolCall = append(t.ToolCall, d.ToolCall...)
}

// answer returns the text that was kept, without secrets. All further use of it is safe.
func (r *reader) answer() *sample.Answer {
	t, secrets := r.text, r.server.Secrets
	return &sample.Answer{Text: secrets.Remove(string(t.Text)), Reasoning: secrets.Remove(string(t.Reasoning)), ToolCalls: toolCalls(secrets.Remove(string(t.ToolName)), secrets.Remove(string(t.ToolCall)))}
}

// excessAllowed is how many tokens above the limit a server may state: some servers count
// the token that ends the answer. Such answers are logged all the same.
const excessAllowed = 1

// countTokens sets the token counts of a complete answer. The sources of the number of
// output tokens are, in this order: the usage that the server stated, the counts beside its
// timings, the counts of its events, and what the client can count.
func (r *reader) countTokens(s *sample.Sample, usage dialect.Usage, eventTokens int, hasText bool) error {
	s.PromptTokens, s.CachedTokens, s.ReasoningTokens = usage.PromptTokens, usage.CachedTokens, usage.ReasoningTokens
	if s.PromptTokens == 0 {
		s.PromptTokens = s.Server.PromptTokens + s.Server.CachedTokens
	}
	if s.CachedTokens == 0 {
		s.CachedTokens = s.Server.CachedTokens
	}
	// A first token may have no text: the one that ends the answer, or a part of a character.
	if stated := max(usage.OutputTokens, s.Server.OutputTokens); !hasText && stated > 0 && eventTokens == 0 && s.ReasoningTokens == 0 && s.MaxTokens != 1 {
		return fail(sample.Empty, "the answer ended well without text, and the server states %d output tokens", stated)
	}
	switch {
	case usage.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = usage.OutputTokens, sample.FromUsage
	case s.Server.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = s.Server.OutputTokens, sample.FromUsage
	case eventTokens > 0:
		s.OutputTokens, s.TokenSource = eventTokens, sample.FromEvents
	case !hasText:
		return fail(sample.Empty, "the answer ended well and holds no token")
	case r.options.Tokenizer != nil:
		s.TokenSource = sample.FromTokenizer // counted by the recorder
	case s.Streamed:
		s.OutputTokens, s.TokenSource = s.Deltas, sample.FromDeltas
	default:
		s.TokenSource = sample.FromNothing
	}
	if s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens+excessAllowed {
		return fail(sample.Malformed, "the server states %d output tokens, and %d were allowed", s.OutputTokens, s.MaxTokens)
	}
	return nil
}
