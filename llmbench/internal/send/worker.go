package send

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Worker sends one request at a time, and creates a sample of each. It reuses its buffers, so that a
// chunk of a stream needs no allocation.
type Worker struct {
	// Prefix is part of the IDs of requests outside of a pass.
	Prefix string

	client   *Client
	options  *Options
	clock    conn.Clock    // of the pass
	flight   *audit.Flight // of the pass; nil for a request outside of a pass
	recorder *recorder     // of the pass; nil for a request outside of a pass
	pass     int64         // number of the pass within the client, from 1; 0 for a request outside of a pass
	in       reader
	echo     *echo // of the session that the worker is sending; nil if there is none
}

// NewWorker returns a worker for requests outside of a pass. Their instants are on clock. The worker
// records each request in f, unless f is nil.
func NewWorker(c *Client, o *Options, clock conn.Clock, f *audit.Flight) *Worker {
	w := &Worker{client: c, options: o, clock: clock, flight: f}
	w.in.init(o, &c.server, clock, c.events)
	return w
}

// Do sends p and returns its sample. If the request is scheduled, t0 is due; otherwise t0 is the send.
func (w *Worker) Do(ctx context.Context, p Post, due time.Duration, scheduled bool) (s sample.Sample) {
	w.in.keepText = w.options.keepsText() || p.Check != nil
	w.echo = nil
	w.send(ctx, &s, &p, p.Leave, due, scheduled)
	return s
}

// send sends p and reads the answer to its end. If the request is scheduled, t0 is due; otherwise t0 is the
// send. The request ends normally, by a deadline, when the client leaves as l specifies, or when ctx ends.
//
// While a stream is open and waits, its stack has the frame of send and the frames of the functions that
// send calls. These frames are small, and functions that need a large stack run with conn.Apart. So the
// stack of a stream remains at 4 KiB, which BenchmarkOpenStream shows.
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
	timers []*time.Timer // timers that give the request up
	req    *http.Request // nil if the request cannot be created, or has been sent
	trace  conn.Trace
	// end is the arrival of the end of the answer. It is zero if only the end of the connection marks the
	// end of the answer, because the end of a connection has no timestamp.
	end conn.Arrival
	err error

	secrets    redact.Secrets // of the post
	hasSecrets bool

	checked bool // the request has a check
}

// begin creates the request for p.
func (a *attempt) begin(ctx context.Context, p *Post, l Leave, due time.Duration, scheduled bool) {
	s, w := a.sample, a.Worker
	a.checked = p.Check != nil
	a.secrets, a.hasSecrets = p.Secrets, p.Secrets != redact.Secrets{}
	*s = sample.Sample{
		Request:   p.Request,
		Model:     p.Model,
		ID:        w.id(p),
		Due:       due,
		Scheduled: scheduled,
		Epoch:     w.clock.Epoch(),
		Streamed:  w.options.Stream,

		PromptChars: p.Chars,
		AskedTokens: p.PromptTokens,
		MaxTokens:   p.MaxTokens,
		FixedOutput: p.FixedOutput,
		Inputs:      p.Inputs,
	}
	a.ctx, a.giveUp = context.WithCancelCause(ctx)
	var err error
	if a.req, s.TraceID, err = w.newRequest(a.ctx, s.ID, p); err != nil {
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
	w.in.reset(w.client.runID, l.Deltas)
	a.trace.Clock = w.clock
	s.Admitted = w.clock.Now()
	w.flight.Enter(s.Admitted)
}

// id returns the ID of p's request. The ID depends neither on the order in which requests are sent, nor on
// which of several processes sends them.
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

// giveUpAfter makes the request end with the error why after the time d.
func (a *attempt) giveUpAfter(d time.Duration, why error) {
	a.timers = append(a.timers, time.AfterFunc(d, func() { a.giveUp(why) }))
}

// settle completes the sample after the exchange has ended.
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
	setInstants(s, w.clock, trace.FirstByte, &w.in.arrivals, w.in.merged, a.end)
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
	if a.hasSecrets {
		clean(s, a.secrets)
		a.cleanAnswer()
	}
}

// cleanAnswer removes the secrets of the post from the answer. The server's secrets are not in it.
func (a *attempt) cleanAnswer() {
	answer := a.sample.Answer
	if answer == nil {
		return
	}
	answer.Text, answer.Reasoning = a.secrets.Remove(answer.Text), a.secrets.Remove(answer.Reasoning)
	for i, call := range answer.ToolCalls {
		answer.ToolCalls[i].Name, answer.ToolCalls[i].Arguments = a.secrets.Remove(call.Name), a.secrets.Remove(call.Arguments)
	}
}

// clean removes secrets from everything in s that a server, or an error of Go, may have written. After
// that, s can be used safely in records, logs, checks and other shards.
func clean(s *sample.Sample, secrets redact.Secrets) {
	s.Finish, s.Unread = secrets.Hide(s.Finish), secrets.Hide(s.Unread)
	if s.Err != nil {
		before := s.Err.Error()
		if shown := secrets.Excerpt(before, maxError); shown != before {
			s.Err = errors.New(shown)
		}
	}
	for i := range s.Header {
		s.Header[i].Value = secrets.Hide(s.Header[i].Value)
	}
	if s.Answer != nil {
		s.Answer.Finish = s.Finish
	}
}

// slowSend is the time after Start from which a sample has SentBy: if the request may have been sent later
// than this.
const slowSend = 100 * time.Microsecond

// newRequest returns the HTTP request for p and its trace ID, which may be "". It returns an error if the URL is
// invalid: the dialect's path may contain the model's name.
func (w *Worker) newRequest(ctx context.Context, id string, p *Post) (*http.Request, string, error) {
	now := w.client.now()
	req := p.signed
	p.signed = nil // so that a waiting stream does not keep it in memory
	if req != nil && now.Sub(p.signedAt).Abs() <= signedAhead {
		req = req.WithContext(ctx)
	} else {
		var err error
		if req, err = w.client.newRequest(ctx, p, w.echo, now); err != nil {
			return nil, "", err
		}
	}
	req.Header["X-Request-Id"] = []string{id} // which is not signed
	return req, trace(req.Header, id), nil
}

// newRequest returns the HTTP request for p, but without an ID. If requests are signed, at is the instant of
// the signature.
func (c *Client) newRequest(ctx context.Context, p *Post, e *echo, at time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.At.URL(p.Path), bytes.NewReader(p.Body))
	if err != nil {
		return nil, err
	}
	endpoint.AddHeader(req, c.server.Header)
	for name := range p.Header {
		req.Header.Del(name) // AddHeader keeps a field that is set already
	}
	endpoint.AddHeader(req, p.Header)
	if e != nil {
		e.add(req)
	}
	req.Header["Content-Type"] = []string{"application/json"}
	if c.server.Sign != nil {
		if err := c.server.Sign(req, p.Body, at); err != nil {
			return nil, fmt.Errorf("signature: %w", err)
		}
	}
	return req, nil
}

// signedAhead is the maximum time between the instant of a signature and the send. A request that is sent
// later, such as one that MaxInFlight held back, is signed again. It is well below the five minutes for which
// AWS accepts a signature, because the clocks of client and server differ.
const signedAhead = time.Minute

// Presign signs p, which will be sent at about the instant at, so that the signature delays nothing then. It
// does nothing if requests are not signed. A post that cannot be signed fails when it is sent.
func (c *Client) Presign(p *Post, at time.Time) {
	if c.server.Sign == nil {
		return
	}
	if req, err := c.newRequest(context.Background(), p, nil, at); err == nil {
		p.signed, p.signedAt = req, at
	}
}

// presigned returns the posts of a class, signed for the instants at which they are due if they have such instants.
// The pass must begin about now.
func (c *Client) presigned(of *Class) Posts {
	posts := of.Posts
	if c.server.Sign == nil || of.Due == nil {
		return posts
	}
	began := c.now()
	posts.Build = func(k int) Post {
		post := of.Posts.Build(k)
		c.Presign(&post, began.Add(of.Due[k]))
		return post
	}
	return posts
}

// now returns the time on the wall clock.
func (c *Client) now() time.Time { return time.Unix(0, c.wall()) }

// exchange sends the request and reads the answer into the sample.
func (a *attempt) exchange() {
	resp, err := a.client.sender.Send(a.req, &a.trace)
	a.req = nil // so that a waiting stream does not keep it in memory
	if err != nil {
		a.err = a.notAnswered(err)
		return
	}
	defer resp.Body.Close()
	a.in.heard.Store(int64(a.trace.FirstByte.User))
	a.sample.Status = resp.StatusCode
	a.client.keepBetween(resp)
	a.client.server.record(a.sample, resp.Header)
	if a.echo != nil {
		if a.err = a.echo.keep(a.client.server.Echo, resp); a.err != nil {
			return
		}
	}
	// The head is not used after read, so that a waiting stream does not keep it in memory.
	ends := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor == 2
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

// setInstants writes the instants of a request into its sample, and decides on which clock they are. If each
// arrival has a plausible timestamp, they are on the kernel's clock, and otherwise on the user clock. If
// the sample is already on the user clock, it remains there. The instants that s already has must be on the
// kernel's clock. setInstants copies deltas and merged. If the tokens are counted as deltas, heartbeats do not count.
func setInstants(s *sample.Sample, c conn.Clock, first conn.Arrival, deltas *conn.Arrivals, merged []sample.Merged, end conn.Arrival) {
	s.Clock = cmp.Or(s.Clock, sample.KernelClock)
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
	if end.Stamp != 0 { // otherwise the end has no timestamp of its own
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
	if s.TokenSource == sample.FromDeltas {
		s.OutputTokens = s.Deltas - s.Heartbeats()
	}
}
