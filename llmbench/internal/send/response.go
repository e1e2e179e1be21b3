package send

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/frames"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A reader reads the answers to the requests of one worker, one after the other.
type reader struct {
	options *Options
	server  *Server
	clock   conn.Clock

	src    conn.Reader // the body of the answer
	body   io.Reader   // src, or a decoder that reads from src
	sse    *sse.Decoder
	events dialect.Decoder // of the current stream: sse, or the dialect's own decoder
	framer dialect.Framer  // the dialect, if it has its own decoder; else nil
	parser dialect.Parser
	delta  dialect.Delta // the last parsed event
	parsed int           // number of events of the stream that were completely parsed, up to parsedApart

	queued     *idleTimer    // of a stream that has begun and has no output yet; else nil
	seen       bool          // a delta with something to see has come
	outputSeen bool          // a delta with more than reasoning, and with something to see, has come
	part       conn.Arrival  // arrival of the beginning of the next event; zero if none of it was read
	arrivals   conn.Arrivals // arrivals of the deltas with generated text
	batch      batch         // deltas of the last batch of bytes; a batch is bytes with the same timestamp
	merged     []sample.Merged
	usage      usageTrack
	size       size
	tokens     []int32      // tokens of the deltas so far, if the server reports them
	early      int          // number of tokens that came before the text of their delta
	runID      string       // prefix of the IDs of all requests
	heard      atomic.Int64 // instant at which the last part of an answer came; see passage.watch
	leaveAfter int          // number of deltas after which the client leaves; 0 means never
	lost       string       // the beginning of the last comment that has a part of the answer
	keepText   bool
	text       *dialect.Delta // the text so far, if keepText is true; else nil
}

func (r *reader) init(o *Options, s *Server, clock conn.Clock, events *sse.Budget) {
	*r = reader{options: o, server: s, clock: clock, parser: s.Dialect.NewParser()}
	r.keepText = o.keepsText()
	r.sse = sse.NewDecoder(&r.src)
	r.sse.Budget, r.sse.Comment = events, r.comment
	r.events = r.sse
	if f, ok := s.Dialect.(dialect.Framer); ok {
		r.framer, r.events = f, f.NewDecoder(&r.src)
		if d, ok := r.events.(*frames.Decoder); ok {
			d.Budget = events
		}
	}
}

// reset prepares r for the answer to another request. The IDs of all requests begin with runID. The client
// leaves after leaveAfter deltas; 0 means that it does not leave.
func (r *reader) reset(runID string, leaveAfter int) {
	r.runID, r.leaveAfter = runID, leaveAfter
	r.arrivals.Reset()
	r.batch, r.merged = batch{}, r.merged[:0]
	r.tokens, r.early = r.tokens[:0], 0
	r.usage, r.size, r.seen, r.outputSeen, r.lost = usageTrack{}, size{}, false, false, ""
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

// readUnlessStream reads the whole answer if it is not a stream. If it is a stream, readUnlessStream
// prepares r for it.
func (r *reader) readUnlessStream(ctx context.Context, resp *http.Response, s *sample.Sample, giveUp context.CancelCauseFunc) (streamed bool, err error) {
	err = r.decode(resp.Header.Get("Content-Encoding"))
	if resp.StatusCode < 200 || resp.StatusCode > 299 { // the status decides, even if the encoding is unknown
		s.RetryAfter = retryAfter(resp.Header, time.Now())
		defer time.AfterFunc(errorBodyTime, func() { giveUp(nil) }).Stop()
		if to := resp.Header.Get("Location"); to != "" {
			return false, fail(sample.HTTP, "status %s: redirects are not followed, and this one leads to %s: %s", resp.Status, r.server.Secrets.Excerpt(to, 300), r.errorBody())
		}
		outcome := sample.HTTP
		if r.server.sheds(resp) {
			outcome = sample.Shed
		}
		text := r.errorBody()
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
			text = strings.Join(strings.Fields(tags.ReplaceAllString(text, " ")), " ")
		}
		return false, fail(outcome, "status %s: %s%s", resp.Status, text, hint(resp, text))
	}
	if err := cmp.Or(err, r.checkHeader(s, resp.Header)); err != nil {
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
	switch {
	case r.framer != nil && kind != r.framer.MediaType(), r.framer == nil && (kind == "application/json" || kind == "text/html"):
		return false, r.readOther(ctx, s, kind)
	case r.framer == nil:
		r.sse.Format = sse.FormatOf(kind)
	}
	r.events.Reset(r.body)
	return true, nil
}

// decode sets r.body to the decoded body of an answer with the given Content-Encoding. It returns an error
// if the encoding is unknown, or if compressed answers are not allowed.
func (r *reader) decode(encoding string) error {
	r.body = &r.src
	if encoding == "" || encoding == "identity" {
		if !r.src.CanAwait() { // hides Await, so that the decoder keeps its buffer, which it needs while Read waits
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
		return fail(sample.Malformed, "content encoding %q, which was not requested; LLMBENCH_COMPRESSED=1 or Target.Compressed allows it", encoding)
	}
	return nil
}

// tags matches the tags of a page of HTML, as proxies answer with.
var tags = regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`)

// overloaded is the status of Anthropic's API when it refuses a request because of its load
// (https://platform.claude.com/docs/en/api/errors).
const overloaded = 529

// fault returns the failure of an answer with an error of the server, which is in r.delta. The server shed the request
// if the error states that, and no output came before.
func (r *reader) fault(s *sample.Sample) error {
	outcome := sample.ServerError
	shed := r.server.Shed
	if len(shed) == 0 {
		shed = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, overloaded} // a server that is down states nothing
	}
	if s.ErrorStatus = r.delta.FaultStatus; s.Deltas == 0 && slices.Contains(shed, s.ErrorStatus) {
		outcome = sample.Shed
	}
	return fail(outcome, "%s", r.delta.Fault)
}

// sheds reports whether an error response says that the server refused the request because of its load.
func (s *Server) sheds(resp *http.Response) bool {
	if len(s.Shed) > 0 {
		return slices.Contains(s.Shed, resp.StatusCode)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, overloaded:
		return true
	case http.StatusServiceUnavailable: // without Retry-After, the server may be down
		return resp.Header.Get("Retry-After") != ""
	}
	return false
}

// retryAfter returns how long a server asks the client to wait. The header Retry-After has a number of
// seconds or a date. The time until a date is counted from the date of the answer or, if there is none,
// from now. retryAfter returns 0 if the header is missing or invalid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil { // the server's clock may be different
		now = date
	}
	return max(0, until.Sub(now))
}

// errorBody reads the body of an error response, and returns its beginning without secrets. It ignores
// errors of reading, because the status is already the failure.
func (r *reader) errorBody() string {
	most := maxErrorBody + r.server.Secrets.Longest()
	body, _ := io.ReadAll(io.LimitReader(r.body, int64(most)))
	text := string(body)
	if len(text) == most { // the text may end within a secret
		text += redact.Cut
	}
	io.Copy(io.Discard, io.LimitReader(r.body, maxDrained))
	return r.server.Secrets.Excerpt(strings.TrimSpace(text), maxErrorBody)
}

// A headerTimer is a dialect whose servers report timings in the header of an answer that is not streamed.
type headerTimer interface {
	Timings(http.Header) dialect.Timings
}

// readWhole reads an answer for which no stream was requested.
func (r *reader) readWhole(ctx context.Context, s *sample.Sample) error {
	body, err := io.ReadAll(io.LimitReader(r.body, maxBody+1))
	switch {
	case err != nil:
		return interrupted(ctx, r.options, sample.Truncated, err)
	case len(body) > maxBody:
		return fail(sample.Malformed, "the body of the answer has more than %d bytes", maxBody)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	}
	s.Events = 1
	if err := r.checkIdentity(s, body); err != nil {
		return err
	}
	if p, ok := r.parser.(dialect.ItemsParser); ok {
		p.Expect(s.Inputs)
	}
	err = r.readBody(body, s)
	return quote(err, s, "", r.delta.Strange)
}

// readBody parses an answer for which no stream was requested.
func (r *reader) readBody(body []byte, s *sample.Sample) error {
	if err := r.parser.Body(body, &r.delta); err != nil {
		return failure{sample.Malformed, err}
	}
	s.Finish, s.UnknownFinish, s.Unread = r.delta.Finish, r.delta.UnknownFinish, r.delta.Unread
	if r.delta.Fault != "" {
		return r.fault(s)
	}
	r.size.add(&r.delta)
	if err := r.size.check(); err != nil {
		return err
	}
	r.addText(s)
	if r.delta.Timings != (dialect.Timings{}) {
		s.Server = sample.ServerTimings(r.delta.Timings)
	}
	if s.Inputs > 0 {
		r.addItems(s)
		return nil
	}
	return r.countTokens(s, r.delta.Usage, 0, r.delta.Generated())
}

// addItems sets what an answer of vectors or scores has. It also keeps the vectors or scores if they are
// needed.
func (r *reader) addItems(s *sample.Sample) {
	d := &r.delta
	s.PromptTokens, s.CachedTokens, s.CachedStated, s.TokenSource = d.Usage.PromptTokens, d.Usage.CachedTokens, d.Usage.CachedStated, sample.NoOutput
	if len(d.Vectors) > 0 {
		s.Dimensions = len(d.Vectors[0])
	}
	if !r.keepText {
		return
	}
	r.text.Scores = d.Scores // the parser makes new ones for each answer
	for _, v := range d.Vectors {
		r.text.Vectors = append(r.text.Vectors, slices.Clone(v))
	}
}

// readOther reads an answer that is not a stream, although a stream was requested. It returns the failure.
func (r *reader) readOther(ctx context.Context, s *sample.Sample, kind string) error {
	body, err := io.ReadAll(io.LimitReader(r.body, maxOther))
	switch {
	case err != nil:
		return interrupted(ctx, r.options, sample.Truncated, err)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	case r.parser.Body(body, &r.delta) == nil && r.delta.Fault != "":
		return r.fault(s)
	}
	return fail(sample.Malformed, "want a stream, but the answer is %s: %q", kind, r.server.Secrets.Excerpt(string(body), 200))
}

// addText counts the characters of the last delta. It also keeps the text if it is needed.
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

// answer returns the text that was kept, without secrets. It is safe to show.
func (r *reader) answer() *sample.Answer {
	t, secrets := r.text, r.server.Secrets
	var scores []sample.Score
	for _, s := range t.Scores {
		scores = append(scores, sample.Score(s))
	}
	return &sample.Answer{Text: secrets.Remove(string(t.Text)), Reasoning: secrets.Remove(string(t.Reasoning)), ToolCalls: toolCalls(secrets.Remove(string(t.ToolName)), secrets.Remove(string(t.ToolCall))), Vectors: t.Vectors, Scores: scores}
}

// excessAllowed is the number of tokens above the limit that a server may report, because some servers
// count the token that ends the answer. Such answers are still logged.
const excessAllowed = 1

// countTokens sets the token counts of a complete answer. The number of output tokens comes from the first
// source that has it: the usage that the server reported, the counts with the server's timings, the counts
// of the events, or what the client itself can count. If the usage of a stream contradicts itself or the deltas,
// neither the usage nor the number of deltas is used.
func (r *reader) countTokens(s *sample.Sample, usage dialect.Usage, eventTokens int, hasText bool) error {
	s.PromptTokens, s.CachedTokens, s.CachedStated, s.ReasoningTokens = usage.PromptTokens, usage.CachedTokens, usage.CachedStated, usage.ReasoningTokens
	s.PromptTokens = cmp.Or(s.PromptTokens, s.Server.PromptTokens+s.Server.CachedTokens)
	s.CachedTokens = cmp.Or(s.CachedTokens, s.Server.CachedTokens)
	// A first token may have no text: it may end the answer, or be a part of a character.
	if stated := max(usage.OutputTokens, s.Server.OutputTokens); !hasText && stated > 0 && eventTokens == 0 && s.ReasoningTokens == 0 && s.MaxTokens != 1 {
		return fail(sample.Empty, "the answer is complete but has no text, although the server reports %d output tokens", stated)
	}
	contradicted := r.usage.contradicts(s, usage.OutputTokens)
	if contradicted {
		usage.OutputTokens, eventTokens, s.DeltaTokens = 0, 0, nil // events were counted by their usage
	}
	switch {
	case usage.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = usage.OutputTokens, sample.FromUsage
	case s.Server.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = s.Server.OutputTokens, sample.FromUsage
	case eventTokens > 0:
		s.OutputTokens, s.TokenSource = eventTokens, sample.FromEvents
	case !hasText:
		return fail(sample.Empty, "the answer is complete but has no token")
	case r.options.Tokenizer != nil:
		s.TokenSource = sample.FromTokenizer // the recorder counts them
	case contradicted:
		s.TokenSource = sample.Contradicted
	case s.Streamed:
		s.OutputTokens, s.TokenSource = s.Deltas, sample.FromDeltas
	default:
		s.TokenSource = sample.FromNothing
	}
	if s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens+excessAllowed {
		return fail(sample.Malformed, "the server reports %d output tokens, but %d were allowed", s.OutputTokens, s.MaxTokens)
	}
	if s.TokenSource == sample.FromTokenizer {
		return nil // the recorder checks the number that it counts
	}
	return cutShort(s)
}
