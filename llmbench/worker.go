package llmbench

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A worker sends one request at a time and makes a sample of it. It reuses its buffers, so
// that a chunk of a stream costs no allocation.
type worker struct {
	client   *client
	load     *Load
	clock    conn.Clock    // of the pass
	flight   *audit.Flight // of the pass; nil for a request outside of a pass
	recorder *recorder     // of the pass; nil for a request outside of a pass
	in       responseReader
}

// newWorker returns a worker of a pass that started with clock.
func newWorker(c *client, l *Load, clock conn.Clock, f *audit.Flight) *worker {
	w := &worker{client: c, load: l, clock: clock, flight: f}
	w.in.init(c.target.dialect(), l, clock, c.secrets)
	w.in.compressed = c.target.Compressed
	return w
}

// do sends p and returns its sample. The client leaves as p says.
func (w *worker) do(ctx context.Context, p post, due time.Duration, scheduled bool) (s sample.Sample) {
	w.send(ctx, &s, &p, p.leave, due, scheduled)
	return s
}

// send sends p and reads the answer to its end. The instant t0 is due if the request is
// scheduled, else it is the send. The request ends by itself, by a deadline, when its
// client leaves as l says, or when ctx ends.
//
// Each open stream has the frame of send on its stack, which is therefore kept small.
func (w *worker) send(ctx context.Context, s *sample.Sample, p *post, l leave, due time.Duration, scheduled bool) {
	*s = sample.Sample{
		Request:   p.request,
		ID:        w.client.runID + "-" + strconv.FormatInt(w.client.ordinal.Add(1), 10),
		Due:       due,
		Scheduled: scheduled,
		Epoch:     w.clock.Epoch(),
		Streamed:  !w.load.NoStream,

		PromptChars: p.chars,
		AskedTokens: p.promptTokens,
		MaxTokens:   p.maxTokens,
		FixedOutput: p.fixedOutput,
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	req, err := w.newRequest(ctx, s.ID, p)
	if err != nil {
		now := w.clock.Now()
		s.Admitted, s.Start, s.End = now, now, now
		if !scheduled {
			s.Due = now
		}
		s.Outcome, s.Err = sample.Malformed, errors.Join(errNotSent, err)
		return
	}

	defer time.AfterFunc(w.load.Timeout, func() { giveUp(errTimeout) }).Stop()
	if l.after > 0 {
		defer time.AfterFunc(l.after, func() { giveUp(errLeft) }).Stop()
	}
	w.in.reset(l.deltas)
	s.Admitted = w.clock.Now()
	w.flight.Enter(s.Admitted)
	trace := &conn.Trace{Clock: w.clock}
	end, err := w.exchange(ctx, req, trace, s, giveUp)
	if err != nil {
		s.End = w.clock.Now()
	}
	s.Connect, s.Wrote = trace.Connect, trace.Written
	if s.Start = s.Admitted; trace.Begun && s.Connect == 0 {
		s.Start = trace.Sent
		if trace.SentBy-s.Start > slowSend {
			s.SentBy = trace.SentBy
		}
	}
	if !scheduled {
		s.Due = s.Start
	}
	settle(s, w.clock, trace.FirstByte, w.in.arrivals, w.in.merged, end)
	if s.FirstByte > 0 { // the client may notice late that it has written everything
		s.Wrote = min(s.Wrote, s.FirstByte)
	}
	w.flight.Leave(s.End + s.EndLag)
	s.Resent, s.ResentUnread = max(0, trace.Attempts-1), trace.Unread
	s.Outcome = sample.OK
	if w.load.KeepText || err == nil && s.TokenSource == sample.FromTokenizer {
		s.Answer = w.in.answer()
	}
	if err != nil {
		f := asFailure(err)
		s.Outcome, s.Err = f.Outcome, redactError(w.client.secrets, f.error)
	}
}

// slowSend is how long after Start a request can have been sent so that its sample has SentBy.
const slowSend = time.Millisecond

// newRequest returns the HTTP request for p. It fails if the dialect's path, which may hold
// the model's name, is no URL.
func (w *worker) newRequest(ctx context.Context, id string, p *post) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.client.at.URL(p.path), bytes.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	endpoint.AddHeader(req, w.client.target.Header)
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["X-Request-Id"] = []string{id}
	return req, nil
}

// exchange sends req and reads the answer into s. It returns the arrival of the end of the
// answer; that is zero if the end is only known by the end of the connection, which has no
// timestamp.
func (w *worker) exchange(ctx context.Context, req *http.Request, t *conn.Trace, s *sample.Sample, giveUp context.CancelCauseFunc) (end conn.Arrival, err error) {
	resp, err := w.client.sender.Send(req, t)
	if err != nil {
		if t.FirstByte.User != 0 {
			return end, interrupted(ctx, w.load, sample.Malformed, err)
		}
		return end, interrupted(ctx, w.load, sample.Connect, err)
	}
	defer resp.Body.Close()
	s.Status = resp.StatusCode
	// The head is not used after read, so that a stream that waits does not keep it in memory.
	ends := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0
	w.in.src.Reset(resp.Body, t)
	err = w.in.read(ctx, resp, s, giveUp)
	s.End = w.in.src.End.User
	if err == nil && ends {
		end = w.in.src.End
	}
	if t.Reordered() {
		s.Clock = sample.UserClock
	}
	return end, err
}
