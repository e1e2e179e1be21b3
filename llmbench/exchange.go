package llmbench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// Why a request was given up, as causes of its context.
var (
	errTimeout = errors.New("request timeout")
	errStalled = errors.New("stream stalled")
)

// maxBody bounds in bytes what is read of an answer that is not a stream.
const maxBody = 64 << 20

// maxErrorBody bounds in bytes what is kept of an answer that reports an error.
const maxErrorBody = 4 << 10

// errorBodyTime is how long the body of an error may take: its status is known.
const errorBodyTime = 10 * time.Second

// A worker carries one request at a time from the bytes to post to its Sample.
// It reuses its buffers, so that a chunk costs no allocation.
type worker struct {
	client *client
	load   *Load
	clock  clock

	src    stampReader
	sse    *sse.Decoder
	parser dialect.Parser
	delta  dialect.Delta
	gaps   []time.Duration
	text   []byte // the generated text, kept only for a tokenizer
}

func newWorker(c *client, l *Load, start clock) *worker {
	w := &worker{client: c, load: l, clock: start, parser: c.target.dialect().NewParser()}
	w.sse = sse.NewDecoder(&w.src)
	return w
}

// A clock tells the time since the start of a pass.
type clock time.Time

func (c clock) now() time.Duration { return time.Since(time.Time(c)) }

// A stampReader keeps the instants of its Reads.
type stampReader struct {
	r     io.Reader
	clock clock
	at    time.Duration // when bytes were last read
	end   time.Duration // when anything was, the end too
}

func (s *stampReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.end = s.clock.now()
	if n > 0 {
		s.at = s.end
	}
	return n, err
}

// do sends p and reads the answer to its end. due is t0 if the request is
// scheduled, else t0 is the send. It returns when the request has ended, by
// itself, by a deadline or by the end of ctx.
func (w *worker) do(ctx context.Context, p post, due time.Duration, scheduled bool) Sample {
	s := Sample{
		ID:        w.client.runID + "-" + strconv.FormatInt(w.client.ordinal.Add(1), 10),
		Due:       due,
		Scheduled: scheduled,
		Streamed:  !w.load.NoStream,
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	seen := &instants{clock: w.clock}
	req, err := http.NewRequestWithContext(seen.follow(ctx), http.MethodPost, w.client.base+p.path, bytes.NewReader(p.body))
	if err != nil { // the path is a dialect's, so this is a fault of ours
		s.Outcome, s.Err = Malformed, err
		return s
	}
	maps.Copy(req.Header, w.client.target.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", s.ID)
	// A server may close a connection that it said it would keep, as the
	// request is on its way. net/http sends it again on a fresh one, if this
	// field is there; being nil, it is not sent. The sample tells.
	req.Header["X-Idempotency-Key"] = nil

	timeout := time.AfterFunc(w.load.Timeout, func() { giveUp(errTimeout) })
	defer timeout.Stop()

	s.Start = w.clock.now()
	if !scheduled {
		s.Due = s.Start
	}
	resp, err := w.client.transport.RoundTrip(req)
	if err == nil {
		s.Status = resp.StatusCode
		w.src = stampReader{r: resp.Body, clock: w.clock}
		err = w.answer(ctx, resp, &s, giveUp)
		s.End = w.src.end
		resp.Body.Close()
	} else if seen.firstByte.Load() != 0 {
		err = w.interrupted(ctx, Malformed, err)
	} else {
		err = w.interrupted(ctx, Connect, err)
	}
	if err != nil {
		s.End = w.clock.now()
	}
	s.Connect, s.Wrote, s.FirstByte = seen.connect(), seen.wrote(), seen.first()
	s.Resent = max(0, int(seen.conns.Load())-1)
	s.Outcome = OK
	if err != nil {
		var f failure
		errors.As(err, &f)
		s.Outcome, s.Err = f.Outcome, w.redact(f.error)
	}
	return s
}

// answer reads the answer in resp to its end.
func (w *worker) answer(ctx context.Context, resp *http.Response, s *Sample, giveUp context.CancelCauseFunc) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer time.AfterFunc(errorBodyTime, func() { giveUp(nil) }).Stop()
		text, _ := io.ReadAll(io.LimitReader(&w.src, maxErrorBody)) // what there is; the status is the failure
		io.Copy(io.Discard, io.LimitReader(&w.src, 256<<10))        // so that the connection can be used again
		return fail(HTTP, "status %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return fail(Malformed, "content encoding %q, which was not asked for", enc)
	}
	w.parser.Reset()
	w.text = w.text[:0]
	if !s.Streamed {
		if d, ok := w.client.target.dialect().(headerTimer); ok {
			s.Server = d.Timings(resp.Header)
		}
		return w.whole(ctx, s)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/json" || kind == "text/html" {
		return w.notAStream(ctx, kind)
	}
	w.sse.Format = sse.FormatOf(kind)
	return w.stream(ctx, s, giveUp)
}

// A headerTimer is a dialect whose servers state timings in the header of an
// answer that is not streamed.
type headerTimer interface {
	Timings(http.Header) dialect.Timings
}

// whole reads an answer that was not streamed.
func (w *worker) whole(ctx context.Context, s *Sample) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody+1))
	switch {
	case err != nil:
		return w.interrupted(ctx, Truncated, err)
	case len(body) > maxBody:
		return fail(Malformed, "answer of more than %d bytes", maxBody)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(Empty, "no body")
	}
	if err := w.parser.Body(body, &w.delta); err != nil {
		return failure{Malformed, err}
	}
	s.Finish = w.delta.Finish
	if w.delta.Fault != "" {
		return fail(ServerError, "%s", w.delta.Fault)
	}
	w.keepText()
	if w.delta.Timings != (dialect.Timings{}) {
		s.Server = w.delta.Timings
	}
	return w.count(s, w.delta.Usage, 0, w.delta.Generated())
}

// notAStream reads an answer that is no stream though one was asked for.
func (w *worker) notAStream(ctx context.Context, kind string) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody))
	switch {
	case err != nil:
		return w.interrupted(ctx, Truncated, err)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(Empty, "no body")
	case w.parser.Body(body, &w.delta) == nil && w.delta.Fault != "":
		return fail(ServerError, "%s", w.delta.Fault)
	}
	return fail(Malformed, "a stream was asked for and %s came: %.200q", kind, body)
}

// stream reads a streamed answer, to the end of the body even after an error or
// its end marker, so that the connection can be used again.
func (w *worker) stream(ctx context.Context, s *Sample, giveUp context.CancelCauseFunc) error {
	w.sse.Reset(&w.src)
	w.gaps = w.gaps[:0]
	var (
		idle   *time.Timer
		usage  dialect.Usage
		tokens int   // that the server said came with events
		bad    error // the first fault in the stream
		events int
		done   bool
	)
	defer func() {
		if idle != nil {
			idle.Stop()
		}
		if len(w.gaps) > 0 {
			s.Gaps = append([]time.Duration(nil), w.gaps...)
		}
	}()
	for {
		e, err := w.sse.Next()
		if err == io.EOF {
			break
		}
		switch {
		case err != nil && bad != nil:
			return bad // what came first; an engine that died tells why before it is gone
		case errors.Is(err, sse.ErrTooLarge):
			return failure{Malformed, err}
		case err != nil:
			return w.interrupted(ctx, Truncated, err)
		}
		at := w.src.at
		if idle == nil {
			idle = time.AfterFunc(w.load.IdleTimeout, func() { giveUp(errStalled) })
		} else {
			idle.Reset(w.load.IdleTimeout)
		}
		events++
		if bad != nil {
			continue
		}
		d := &w.delta
		err = w.parser.Event(e, d)
		switch {
		case d.Fault != "":
			bad = fail(ServerError, "%s", d.Fault)
			continue
		case done: // an error after the end marker is one, text is none
			continue
		case errors.Is(err, dialect.ErrTruncated):
			bad = failure{Truncated, err}
			continue
		case err != nil:
			bad = failure{Malformed, err}
			continue
		}
		done = d.Done
		if d.Finish != "" {
			s.Finish = d.Finish
		}
		// Some servers state zeros, before or after they state the truth.
		keep(&usage.PromptTokens, d.Usage.PromptTokens)
		keep(&usage.OutputTokens, d.Usage.OutputTokens)
		keep(&usage.CachedTokens, d.Usage.CachedTokens)
		tokens += d.Tokens
		if d.Timings != (dialect.Timings{}) {
			s.Server = d.Timings
		}
		for range d.Chunks { // nearly always one
			if s.Deltas == 0 {
				s.First = at
			} else {
				w.gaps = append(w.gaps, at-s.Last)
			}
			s.Last = at
			s.Deltas++
		}
		w.keepText()
	}
	if bad != nil {
		return bad
	}
	if events == 0 {
		return fail(Empty, "no event in the stream")
	}
	if err := w.parser.End(); err != nil {
		return failure{Truncated, err}
	}
	return w.count(s, usage, tokens, s.Deltas > 0)
}

// keep keeps a stated count.
func keep(count *int, stated int) {
	if stated != 0 {
		*count = stated
	}
}

// keepText keeps the delta's text if it will have to be counted.
func (w *worker) keepText() {
	if w.load.Tokenizer != nil {
		w.text = append(w.text, w.delta.Reasoning...)
		w.text = append(w.text, w.delta.Text...)
		w.text = append(w.text, w.delta.ToolCall...)
	}
}

// count settles the token counts of a whole answer: what the server stated as
// usage, or beside its timings, or event by event; or else what the client can
// count.
func (w *worker) count(s *Sample, usage dialect.Usage, tokens int, hasText bool) error {
	s.PromptTokens, s.CachedTokens = usage.PromptTokens, usage.CachedTokens
	if s.PromptTokens == 0 {
		s.PromptTokens = s.Server.PromptTokens + s.Server.CachedTokens
	}
	if s.CachedTokens == 0 {
		s.CachedTokens = s.Server.CachedTokens
	}
	switch {
	case usage.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = usage.OutputTokens, FromUsage
	case s.Server.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = s.Server.OutputTokens, FromUsage
	case tokens > 0:
		s.OutputTokens, s.TokenSource = tokens, FromEvents
	case !hasText:
		return fail(Empty, "the answer ended well and holds no token")
	case w.load.Tokenizer != nil:
		s.text, s.TokenSource = string(w.text), FromTokenizer // counted when the pass is over
	case s.Streamed:
		s.OutputTokens, s.TokenSource = s.Deltas, FromDeltas
	default:
		s.TokenSource = FromNothing
	}
	return nil
}
