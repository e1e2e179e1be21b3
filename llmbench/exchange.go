package llmbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
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

// A stampReader keeps the instant of its last Read, whatever that returned:
// while events come it is when their bytes were read, at last when the end was.
type stampReader struct {
	r     io.Reader
	clock clock
	at    time.Duration
}

func (s *stampReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.at = s.clock.now()
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
	var seen instants
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, seen.trace(w.clock)),
		http.MethodPost, w.client.base+p.path, bytes.NewReader(p.body))
	if err != nil { // the path is a dialect's, so this is a fault of ours
		s.Outcome, s.Err = Malformed, err
		return s
	}
	for key, values := range w.client.target.Header {
		req.Header[key] = values
	}
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
		err = w.answer(resp, &s, giveUp)
		s.End = w.src.at
		resp.Body.Close()
	} else if seen.firstByte.Load() != 0 {
		err = failure{Malformed, err}
	} else {
		err = failure{Connect, err}
	}
	if err != nil {
		s.End = w.clock.now()
	}
	s.Connect, s.Wrote, s.FirstByte = seen.connect(), seen.wrote(), seen.first()
	s.Resent = max(0, int(seen.conns.Load())-1)
	s.Outcome, s.Err = w.classify(ctx, err)
	return s
}

// A failure is an error and the outcome it makes.
type failure struct {
	Outcome
	error
}

func (f failure) Unwrap() error { return f.error }

// fail makes a failure.
func fail(o Outcome, format string, args ...any) error {
	return failure{o, fmt.Errorf(format, args...)}
}

// classify turns what ended a request into its outcome. A deadline explains
// whatever error it led to.
func (w *worker) classify(ctx context.Context, err error) (Outcome, error) {
	if err == nil {
		return OK, nil
	}
	switch cause := context.Cause(ctx); {
	case cause == errTimeout:
		return Timeout, fmt.Errorf("no end after %v", w.load.Timeout)
	case cause == errStalled:
		return Stalled, fmt.Errorf("nothing for %v in the middle of the stream", w.load.IdleTimeout)
	case cause != nil:
		return Canceled, cause
	}
	var f failure
	if !errors.As(err, &f) {
		f.Outcome = Truncated
	}
	return f.Outcome, w.redact(err)
}

// redact takes the target's credentials out of an error, as servers like to
// repeat them.
func (w *worker) redact(err error) error {
	text := err.Error()
	for _, v := range w.client.target.Header.Values("Authorization") {
		for _, secret := range []string{v, strings.TrimPrefix(v, "Bearer ")} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, "[redacted]")
			}
		}
	}
	return errors.New(text)
}

// answer reads the answer in resp to its end.
func (w *worker) answer(resp *http.Response, s *Sample, giveUp context.CancelCauseFunc) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(&w.src, maxErrorBody))
		io.Copy(io.Discard, io.LimitReader(&w.src, 256<<10)) // so that the connection can be used again
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
		return w.whole(s)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/json" || kind == "text/html" {
		return w.notAStream(kind, s)
	}
	w.sse.Format = sse.FormatOf(kind)
	return w.stream(s, giveUp)
}

// A headerTimer is a dialect whose servers state timings in the header of an
// answer that is not streamed.
type headerTimer interface {
	Timings(http.Header) dialect.Timings
}

// whole reads an answer that was not streamed.
func (w *worker) whole(s *Sample) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody+1))
	switch {
	case err != nil:
		return err
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
func (w *worker) notAStream(kind string, s *Sample) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody))
	switch {
	case err != nil:
		return err
	case len(bytes.TrimSpace(body)) == 0:
		return fail(Empty, "no body")
	case w.parser.Body(body, &w.delta) == nil && w.delta.Fault != "":
		return fail(ServerError, "%s", w.delta.Fault)
	}
	return fail(Malformed, "a stream was asked for and %s came: %.200q", kind, body)
}

// stream reads a streamed answer, to the end of the body even after an error or
// its end marker, so that the connection can be used again.
func (w *worker) stream(s *Sample, giveUp context.CancelCauseFunc) error {
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
		if errors.Is(err, sse.ErrTooLarge) {
			return failure{Malformed, err}
		}
		if err != nil {
			return err
		}
		at := w.src.at
		if idle == nil {
			idle = time.AfterFunc(w.load.IdleTimeout, func() { giveUp(errStalled) })
		} else {
			idle.Reset(w.load.IdleTimeout)
		}
		events++
		if done || bad != nil {
			continue
		}
		d := &w.delta
		if err := w.parser.Event(e, d); errors.Is(err, dialect.ErrTruncated) {
			bad = failure{Truncated, err}
			continue
		} else if err != nil {
			bad = failure{Malformed, err}
			continue
		}
		if d.Fault != "" {
			bad = fail(ServerError, "%s", d.Fault)
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

// instants are what net/http tells of a request's way. Its hooks run in
// goroutines of the transport, and twice when a request is sent again.
type instants struct {
	clock                                  clock
	dialing, connected, written, firstByte atomic.Int64
	conns                                  atomic.Int64 // connections it was sent on
}

func (i *instants) trace(c clock) *httptrace.ClientTrace {
	i.clock = c
	return &httptrace.ClientTrace{
		ConnectStart: func(string, string) { i.dialing.CompareAndSwap(0, i.stamp()) },
		GotConn: func(info httptrace.GotConnInfo) {
			i.conns.Add(1)
			if !info.Reused {
				i.connected.Store(i.stamp())
			}
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { i.written.Store(i.stamp()) },
		GotFirstResponseByte: func() { i.firstByte.Store(i.stamp()) },
	}
}

// stamp is the instant, never 0.
func (i *instants) stamp() int64 { return max(1, int64(i.clock.now())) }

// connect is how long the connection that the request was sent on took to open.
func (i *instants) connect() time.Duration {
	from, to := i.dialing.Load(), i.connected.Load()
	if from == 0 || to < from {
		return 0
	}
	return time.Duration(to - from)
}

func (i *instants) wrote() time.Duration { return time.Duration(i.written.Load()) }
func (i *instants) first() time.Duration { return time.Duration(i.firstByte.Load()) }
