package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"

	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// Why a request was given up, as causes of its context.
var (
	errTimeout = errors.New("request timeout")
	errStalled = errors.New("stream stalled")
)

// A worker carries one request at a time from the bytes to post to its Sample.
// It reuses its buffers, so that a chunk costs no allocation.
type worker struct {
	client *client
	load   *Load
	clock  conn.Clock

	src    conn.Reader
	sse    *sse.Decoder
	parser dialect.Parser
	delta  dialect.Delta
	deltas []conn.Arrival // those with text
	leave  int            // after so many deltas; 0: never
	keep   bool           // the text is needed
	kept   dialect.Delta  // the generated text so far, if it is
}

func newWorker(c *client, l *Load, start conn.Clock) *worker {
	w := &worker{client: c, load: l, clock: start, parser: c.target.dialect().NewParser()}
	w.keep = l.Tokenizer != nil || l.KeepText
	w.sse = sse.NewDecoder(&w.src)
	return w
}

// do is send of one request, whose client leaves as p says.
func (w *worker) do(ctx context.Context, p post, due time.Duration, scheduled bool) (s sample.Sample) {
	w.send(ctx, &s, &p, p.leave, due, scheduled)
	return s
}

// send sends p and reads the answer to its end. due is t0 if the request is
// scheduled, else t0 is the send. It returns when the request has ended, by
// itself, by a deadline, by its client's leave or by the end of ctx.
//
// As many streams as are open have its frame on their stacks: it is kept small.
func (w *worker) send(ctx context.Context, s *sample.Sample, p *post, l leave, due time.Duration, scheduled bool) {
	*s = sample.Sample{
		ID:        w.client.runID + "-" + strconv.FormatInt(w.client.ordinal.Add(1), 10),
		Due:       due,
		Scheduled: scheduled,
		Epoch:     w.clock.Epoch(),
		Streamed:  !w.load.NoStream,

		PromptChars: p.chars,
		AskedTokens: p.tokens,
		MaxTokens:   p.most,
	}
	k := &w.kept
	k.Text, k.Reasoning, k.ToolName, k.ToolCall = k.Text[:0], k.Reasoning[:0], k.ToolName[:0], k.ToolCall[:0]
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	seen := &conn.Trace{Clock: w.clock}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.client.base+p.path, bytes.NewReader(p.body))
	if err != nil { // the path is a dialect's, and may hold the model's name
		now := w.clock.Now()
		s.Admitted, s.Start, s.End = now, now, now
		if !scheduled {
			s.Due = now
		}
		s.Outcome, s.Err = sample.Malformed, errors.Join(errNotSent, err)
		return
	}
	maps.Copy(req.Header, w.client.target.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", s.ID)

	timeout := time.AfterFunc(w.load.Timeout, func() { giveUp(errTimeout) })
	defer timeout.Stop()
	if l.after > 0 {
		defer time.AfterFunc(l.after, func() { giveUp(errLeft) }).Stop()
	}
	w.leave = l.deltas

	s.Admitted = w.clock.Now()
	w.client.flight.enter(s.Admitted)
	w.deltas = w.deltas[:0]
	var end conn.Arrival
	resp, err := w.client.sender.Send(req, seen)
	if err == nil {
		s.Status = resp.StatusCode
		w.src.Reset(resp.Body, seen)
		err = w.answer(ctx, resp, s, giveUp)
		s.End = w.src.End.User
		if err == nil && (resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0) {
			end = w.src.End // else the end is the connection's, which has no stamp
		}
		if seen.Reordered() {
			s.Clock = sample.UserClock
		}
		resp.Body.Close()
	} else if seen.FirstByte.User != 0 {
		err = w.interrupted(ctx, sample.Malformed, err)
	} else {
		err = w.interrupted(ctx, sample.Connect, err)
	}
	if err != nil {
		s.End = w.clock.Now()
	}
	s.Connect, s.Wrote = seen.Connect, seen.Written
	if s.Start = s.Admitted; seen.Begun && s.Connect == 0 {
		s.Start = seen.Sent
	}
	if !scheduled {
		s.Due = s.Start
	}
	settle(s, w.clock, seen.FirstByte, w.deltas, end)
	if s.FirstByte > 0 { // the client may have been late to see that it had written all
		s.Wrote = min(s.Wrote, s.FirstByte)
	}
	w.client.flight.leave(s.End + s.EndLag)
	s.Resent = max(0, seen.Attempts-1)
	s.Outcome = sample.OK
	if w.load.KeepText || err == nil && s.TokenSource == sample.FromTokenizer {
		s.Answer = &sample.Answer{Text: string(k.Text), Reasoning: string(k.Reasoning), ToolNames: string(k.ToolName), ToolCalls: string(k.ToolCall)}
	}
	if err != nil {
		var f failure
		errors.As(err, &f)
		s.Outcome, s.Err = f.Outcome, w.redact(f.error)
	}
}
