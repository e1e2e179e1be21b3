package llmbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// maxBody bounds in bytes what is read of an answer that is not a stream.
const maxBody = 64 << 20

// maxErrorBody bounds in bytes what is kept of an answer that reports an error.
const maxErrorBody = 4 << 10

// errorBodyTime is how long the body of an error may take: its status is known.
const errorBodyTime = 10 * time.Second

// answer reads the answer in resp to its end.
func (w *worker) answer(ctx context.Context, resp *http.Response, s *sample.Sample, giveUp context.CancelCauseFunc) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer time.AfterFunc(errorBodyTime, func() { giveUp(nil) }).Stop()
		text, _ := io.ReadAll(io.LimitReader(&w.src, maxErrorBody)) // what there is; the status is the failure
		io.Copy(io.Discard, io.LimitReader(&w.src, 256<<10))        // so that the connection can be used again
		return fail(sample.HTTP, "status %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return fail(sample.Malformed, "content encoding %q, which was not asked for", enc)
	}
	w.parser.Reset()
	if !s.Streamed {
		if d, ok := w.client.target.dialect().(headerTimer); ok {
			s.Server = sample.ServerTimings(d.Timings(resp.Header))
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
func (w *worker) whole(ctx context.Context, s *sample.Sample) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody+1))
	switch {
	case err != nil:
		return w.interrupted(ctx, sample.Truncated, err)
	case len(body) > maxBody:
		return fail(sample.Malformed, "answer of more than %d bytes", maxBody)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	}
	if err := w.parser.Body(body, &w.delta); err != nil {
		return failure{sample.Malformed, err}
	}
	s.Finish = w.delta.Finish
	if w.delta.Fault != "" {
		return fail(sample.ServerError, "%s", w.delta.Fault)
	}
	w.takeText(s)
	if w.delta.Timings != (dialect.Timings{}) {
		s.Server = sample.ServerTimings(w.delta.Timings)
	}
	return w.count(s, w.delta.Usage, 0, w.delta.Generated())
}

// notAStream reads an answer that is no stream though one was asked for.
func (w *worker) notAStream(ctx context.Context, kind string) error {
	body, err := io.ReadAll(io.LimitReader(&w.src, maxBody))
	switch {
	case err != nil:
		return w.interrupted(ctx, sample.Truncated, err)
	case len(bytes.TrimSpace(body)) == 0:
		return fail(sample.Empty, "no body")
	case w.parser.Body(body, &w.delta) == nil && w.delta.Fault != "":
		return fail(sample.ServerError, "%s", w.delta.Fault)
	}
	return fail(sample.Malformed, "a stream was asked for and %s came: %.200q", kind, body)
}

// stream reads a streamed answer, to the end of the body even after an error or
// its end marker, so that the connection can be used again.
func (w *worker) stream(ctx context.Context, s *sample.Sample, giveUp context.CancelCauseFunc) error {
	w.sse.Reset(&w.src)
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
			return failure{sample.Malformed, err}
		case err != nil:
			return w.interrupted(ctx, sample.Truncated, err)
		}
		at, lag := w.src.Data.On(w.clock)
		if w.src.Data.Stamp == 0 {
			s.Clock = sample.UserClock
		}
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
			bad = fail(sample.ServerError, "%s", d.Fault)
			continue
		case done: // an error after the end marker is one, text is none
			continue
		case errors.Is(err, dialect.ErrTruncated):
			bad = failure{sample.Truncated, err}
			continue
		case err != nil:
			bad = failure{sample.Malformed, err}
			continue
		}
		done = d.Done
		note(s, d, at, lag)
		if d.Finish != "" {
			s.Finish = d.Finish
		}
		// Some servers state zeros, before or after they state the truth.
		keep(&usage.PromptTokens, d.Usage.PromptTokens)
		keep(&usage.OutputTokens, d.Usage.OutputTokens)
		keep(&usage.CachedTokens, d.Usage.CachedTokens)
		tokens += d.Tokens
		if d.Timings != (dialect.Timings{}) {
			s.Server = sample.ServerTimings(d.Timings)
		}
		for range d.Chunks { // nearly always one
			w.deltas = append(w.deltas, w.src.Data)
			s.Deltas++
		}
		if d.Chunks > 0 && (len(d.Text) > 0 || len(d.ToolCall) > 0) {
			if s.Outputs == 0 {
				s.FirstOutput, s.EventLags.FirstOutput = at, lag
			}
			s.Outputs += d.Chunks
		}
		w.takeText(s)
		if w.leave > 0 && s.Deltas >= w.leave {
			giveUp(errLeft)
			return w.interrupted(ctx, sample.Truncated, io.ErrUnexpectedEOF)
		}
	}
	if bad != nil {
		return bad
	}
	if events == 0 {
		return fail(sample.Empty, "no event in the stream")
	}
	if err := w.parser.End(); err != nil {
		return failure{sample.Truncated, err}
	}
	return w.count(s, usage, tokens, s.Deltas > 0)
}

// keep keeps a stated count.
func keep(count *int, stated int) {
	if stated != 0 {
		*count = stated
	}
}

// takeText counts the delta's characters, and keeps its text if that is needed.
func (w *worker) takeText(s *sample.Sample) {
	k, d := &w.kept, &w.delta
	s.OutputChars += utf8.RuneCount(d.Reasoning) + utf8.RuneCount(d.Text) + utf8.RuneCount(d.ToolCall)
	if !w.keep {
		return
	}
	k.Reasoning = append(k.Reasoning, d.Reasoning...)
	k.Text = append(k.Text, d.Text...)
	k.ToolName = dialect.AppendName(k.ToolName, d.ToolName)
	k.ToolCall = append(k.ToolCall, d.ToolCall...)
}

// count settles the token counts of a whole answer: what the server stated as
// usage, or beside its timings, or event by event; or else what the client can
// count.
func (w *worker) count(s *sample.Sample, usage dialect.Usage, tokens int, hasText bool) error {
	s.PromptTokens, s.CachedTokens = usage.PromptTokens, usage.CachedTokens
	if s.PromptTokens == 0 {
		s.PromptTokens = s.Server.PromptTokens + s.Server.CachedTokens
	}
	if s.CachedTokens == 0 {
		s.CachedTokens = s.Server.CachedTokens
	}
	switch {
	case usage.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = usage.OutputTokens, sample.FromUsage
	case s.Server.OutputTokens > 0:
		s.OutputTokens, s.TokenSource = s.Server.OutputTokens, sample.FromUsage
	case tokens > 0:
		s.OutputTokens, s.TokenSource = tokens, sample.FromEvents
	case !hasText:
		return fail(sample.Empty, "the answer ended well and holds no token")
	case w.load.Tokenizer != nil:
		s.TokenSource = sample.FromTokenizer // which counts when the pass is over
	case s.Streamed:
		s.OutputTokens, s.TokenSource = s.Deltas, sample.FromDeltas
	default:
		s.TokenSource = sample.FromNothing
	}
	if s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens+allowedOver {
		return fail(sample.Malformed, "the server states %d output tokens, and %d were allowed", s.OutputTokens, s.MaxTokens)
	}
	return nil
}

// allowedOver is how many tokens more than were allowed a server may state: there
// are some that count the one which ends the answer. It is told all the same.
const allowedOver = 1

// over says how many of the samples have more tokens than were allowed, or nothing.
func over(samples []sample.Sample) string {
	n, first := 0, 0
	for i := range samples {
		s := &samples[i]
		if s.Outcome == sample.OK && s.TokenSource == sample.FromUsage && s.MaxTokens > 0 && s.OutputTokens > s.MaxTokens {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	if n == 0 {
		return ""
	}
	s := &samples[first]
	return fmt.Sprintf("the server states more output tokens than were allowed in %d of %d requests; the first is %s of pass %d, %d of %d",
		n, len(samples), s.ID, s.Pass, s.OutputTokens, s.MaxTokens)
}
