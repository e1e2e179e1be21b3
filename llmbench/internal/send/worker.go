package send

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Worker sends one request at a time and makes a sample of it. It reuses its buffers, so
// that a chunk of a stream costs no allocation.
type Worker struct {
	// Prefix is part of the IDs of requests outside of a pass.
	Prefix string

	client   *Client
	options  *Options
	clock    conn.Clock    // of the pass
	flight   *audit.Flight // of the pass; nil for a request outside of a pass
	recorder *recorder     // of the pass; nil for a request outside of a pass
	pass     int64         // number of the pass of the client, from 1; 0 for a request outside of a pass
	in       reader
}

// NewWorker returns a worker for requests outside of a pass, whose instants are on clock. Requests that are
// sent enter f, unless it is nil.
func NewWorker(c *Client, o *Options, clock conn.Clock, f *audit.Flight) *Worker {
	w := &Worker{client: c, options: o, clock: clock, flight: f}
	w.in.init(o, &c.server, clock, c.events)
	return w
}

// Do sends p and returns its sample. If the request is scheduled, t0 is due, and else it is the send.
func (w *Worker) Do(ctx context.Context, p Post, due time.Duration, scheduled bool) (s sample.Sample) {
	w.in.keepText = w.options.keepsText() || p.Check != nil
	w.send(ctx, &s, &p, p.Leave, due, scheduled)
	return s
}

// send sends p and reads the answer to its end. The instant t0 is due if the request is
// scheduled, else it is the send. The request ends by itself, by a deadline, when its
// client leaves as l says, or when ctx ends.
//
// Each open stream has the frame of send on its stack, and the frames of what send calls while the
// stream waits. They are small, and what needs a large stack runs apart, so that the stack of a
// stream stays at 4 KiB; BenchmarkOpenStream shows it.
func (w *Worker) send(ctx context.Context, s *sample.Sample, p *Post, l Leave, due time.Duration, scheduled bool) {
	a := &attempt{Worker: w, sample: s}
	conn.Apart(func() { a.begin(ctx, p, l, due, scheduled) })
	if a.req == nil {
		return
	}
	a.exchange()
	conn.Apart(a.settle)
}

// An attempt is the state of a request while it is sent and answered.
type attempt struct {
	*Worker
	sample *sample.Sample
	ctx    context.Context
	giveUp context.CancelCauseFunc
	timers []*time.Timer // that give up
	req    *http.Request // nil if there can be none
	trace  conn.Trace
	// End is the arrival of the end of the answer. It is zero if the end is only known by the end
	// of the connection, which has no timestamp.
	end conn.Arrival
	err error

	checked bool // the request has a check
}

// begin makes the request for p.
func (a *attempt) begin(ctx context.Context, p *Post, l Leave, due time.Duration, scheduled bool) {
	s, w := a.sample, a.Worker
	a.checked = p.Check != nil
	*s = sample.Sample{
		Request:   p.Request,
		ID:        w.id(p),
		Due:       due,
		Scheduled: scheduled,
		Epoch:     w.clock.Epoch(),
		Streamed:  w.options.Stream,

		PromptChars: p.Chars,
		AskedTokens: p.PromptTokens,
		MaxTokens:   p.MaxTokens,
		FixedOutput: p.FixedOutput,
	}
	a.ctx, a.giveUp = context.WithCancelCause(ctx)
	var err error
	if a.req, err = w.newRequest(a.ctx, s.ID, p); err != nil {
		a.giveUp(nil)
		now := w.clock.Now()
		s.Admitted, s.Start, s.End = now, now, now
		if !scheduled {
			s.Due = now
		}
		s.Outcome, s.Err = sample.Malformed, errors.Join(ErrNotSent, err)
		return
	}
	a.giveUpAfter(w.options.Timeout, errTimeout)
	if l.After > 0 {
		a.giveUpAfter(l.After, errLeft)
	}
	w.in.reset(l.Deltas)
	a.trace.Clock = w.clock
	s.Admitted = w.clock.Now()
	w.flight.Enter(s.Admitted)
}

// id returns the ID of the request of p. It does not depend on the order in which requests are sent,
// nor on which of several processes sends them.
func (w *Worker) id(p *Post) string {
	id := append(make([]byte, 0, 48), w.client.runID...)
	add := func(n int64) { id = strconv.AppendInt(append(id, '-'), n, 10) }
	if w.pass == 0 {
		id = append(id, w.Prefix...)
		add(w.client.ordinal.Add(1))
		return string(id)
	}
	add(w.pass)
	add(int64(p.Request))
	if p.Turn > 0 {
		add(int64(p.Turn))
	}
	return string(id)
}

// giveUpAfter gives the request up after d.
func (a *attempt) giveUpAfter(d time.Duration, why error) {
	a.timers = append(a.timers, time.AfterFunc(d, func() { a.giveUp(why) }))
}

// settle completes the sample when the exchange has ended.
func (a *attempt) settle() {
	s, w, trace := a.sample, a.Worker, &a.trace
	if a.err != nil {
		s.End = w.clock.Now()
	}
	for _, t := range a.timers {
		t.Stop()
	}
	a.giveUp(nil)
	s.Connect, s.Wrote = trace.Connect, trace.Written
	if s.Start = s.Admitted; trace.Begun && s.Connect == 0 {
		s.Start = trace.Sent
		if trace.SentBy-s.Start > slowSend {
			s.SentBy = trace.SentBy
		}
	}
	if !s.Scheduled {
		s.Due = s.Start
	}
	settle(s, w.clock, trace.FirstByte, &w.in.arrivals, w.in.merged, a.end)
	if s.FirstByte > 0 { // the client may notice late that it has written everything
		s.Wrote = min(s.Wrote, s.FirstByte)
	}
	s.InFlight = w.flight.Leave(s.End + s.EndLag)
	s.Resent, s.ResentUnread = max(0, trace.Attempts-1), trace.Unread
	s.Outcome = sample.OK
	if w.options.KeepText || a.err == nil && (a.checked || w.options.counts(s)) {
		s.Answer = w.in.answer()
	}
	if a.err != nil {
		f := asFailure(a.err)
		s.Outcome, s.Err = f.Outcome, f.error
	}
	clean(s, w.client.server.Secrets)
}

// clean removes secrets from all that a server or an error of Go may have written into s. All further
// use of s is safe: records, logs, checks and other shards.
func clean(s *sample.Sample, secrets redact.Secrets) {
	s.Finish = secrets.Hide(s.Finish)
	if s.Err != nil {
		if before := s.Err.Error(); secrets.Hide(before) != before {
			s.Err = errors.New(secrets.Hide(before))
		}
	}
	if s.Answer != nil {
		s.Answer.Finish = s.Finish
	}
}

// slowSend is how long after Start a request can have been sent so that its sample has SentBy.
const slowSend = 100 * time.Microsecond

// newRequest returns the HTTP request for p. It fails if the dialect's path, which may hold
// the model's name, is no URL.
func (w *Worker) newRequest(ctx context.Context, id string, p *Post) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.client.server.At.URL(p.Path), bytes.NewReader(p.Body))
	if err != nil {
		return nil, err
	}
	endpoint.AddHeader(req, w.client.server.Header)
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["X-Request-Id"] = []string{id}
	return req, nil
}

// exchange sends the request and reads the answer into the sample.
func (a *attempt) exchange() {
	resp, err := a.client.sender.Send(a.req, &a.trace)
	a.req = nil // a stream that waits does not keep it in memory
	if err != nil {
		a.err = a.notAnswered(err)
		return
	}
	defer resp.Body.Close()
	a.sample.Status = resp.StatusCode
	// The head is not used after read, so that a stream that waits does not keep it in memory.
	ends := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0
	a.in.src.Reset(resp.Body, &a.trace)
	a.err = a.in.read(a.ctx, resp, a.sample, a.giveUp)
	a.sample.End = a.in.src.End.User
	if a.err == nil && ends {
		a.end = a.in.src.End
	}
	if a.trace.Reordered() {
		a.sample.Clock = sample.UserClock
	}
}

// notAnswered returns the failure of a request whose sending failed with err.
func (a *attempt) notAnswered(err error) error {
	if a.trace.FirstByte.User != 0 {
		return interrupted(a.ctx, a.options, sample.Malformed, err)
	}
	return interrupted(a.ctx, a.options, sample.Connect, err)
}

// settle writes the instants of a request into its sample, and decides which clock they are
// on. That is the kernel's clock if each arrival has a possible timestamp, and else the
// user's. A sample that is on the user's clock before stays on it. The instants that s
// already holds must be on the kernel's clock. Settle copies deltas and merged.
func settle(s *sample.Sample, c conn.Clock, first conn.Arrival, deltas *conn.Arrivals, merged []sample.Merged, end conn.Arrival) {
	if s.Clock == "" {
		s.Clock = sample.KernelClock
	}
	on := func(a conn.Arrival) (at, lag time.Duration) {
		at, lag = a.On(c)
		if a.Stamp == 0 || lag < -sample.ClockError || at < s.Start-sample.ClockError {
			s.Clock = sample.UserClock
		}
		return at, lag
	}
	s.FirstByte = first.User
	if first.User > 0 {
		s.FirstByte, s.FirstByteLag = on(first)
	}
	if end.Stamp != 0 { // else the end has no timestamp of its own
		s.End, s.EndLag = on(end)
	}
	s.Deltas = deltas.Len()
	if n := deltas.Len(); n > 0 {
		all := make([]time.Duration, 2*n-1)
		s.Lags, s.Gaps = all[:n:n], all[n:]
		for i, d := range deltas.All() {
			var at time.Duration
			at, s.Lags[i] = on(d)
			if i == 0 {
				s.First = at
			} else {
				s.Gaps[i-1] = at - s.Last
			}
			s.Last = at
		}
		if n == 1 {
			s.Gaps = nil
		}
	}
	s.Merged = slices.Clip(append([]sample.Merged(nil), merged...))
	if s.Clock == sample.UserClock || first.User == 0 {
		s.ToUserClock()
	}
}
