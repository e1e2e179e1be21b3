package llmbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// errNotSent is why a request of a pass that was given up has no answer.
var errNotSent = errors.New("not sent")

// session returns the post of r, whose later turns are as good as sent: what a
// dialect cannot say of them is an error now.
func (l Load) session(t Target, r Request) (post, error) {
	if len(r.Tools) > 0 || len(r.Schema) > 0 {
		return post{}, errors.New("a session with tools or a schema; its replies are texts")
	}
	messages := r.Messages
	if len(messages) == 0 {
		messages = []Message{{Role: "user", Content: r.Prompt}}
	}
	for i, turn := range r.Then {
		if turn.Think < 0 {
			return post{}, fmt.Errorf("turn %d: think time %v; must be at least 0", i+1, turn.Think)
		}
		if _, err := l.post(t, turn.request(messages)); err != nil {
			return post{}, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	r.Messages = messages
	p, err := l.post(t, r)
	p.messages, p.then = messages, r.Then
	return p, err
}

// request returns the turn's, after messages.
func (t Turn) request(messages []Message) Request {
	return Request{Messages: messages, MaxTokens: t.MaxTokens, FixedOutput: t.FixedOutput}
}

// turns sends p and, when it is a session, each further turn when it has the
// reply before it. Their samples go to those of the pass.
func (w *worker) turns(ctx context.Context, p *post, due time.Duration, scheduled bool, samples []sample.Sample) {
	samples = samples[p.at:][:p.samples()]
	if len(p.then) > 0 {
		defer func(was bool) { w.keep = was }(w.keep)
		w.keep = true
	}
	w.send(ctx, &samples[0], p, p.leave.at(0), due, scheduled)
	w.client.ended.Add(1)
	if len(p.then) > 0 {
		w.further(ctx, p, samples)
	}
}

// further sends the turns of a session after its first, whose sample is the first.
func (w *worker) further(ctx context.Context, p *post, samples []sample.Sample) {
	messages := p.messages[:len(p.messages):len(p.messages)] // another pass may send them too
	var over error                                           // why no further turn is sent
	for i, turn := range p.then {
		last, next := &samples[i], &samples[i+1]
		if over == nil && last.Outcome != sample.OK {
			over = fmt.Errorf("turn %d of its session: %s", i, last.Outcome)
		}
		if over == nil {
			over = sleep(ctx, turn.Think)
		}
		if over != nil {
			*next = unsent(w.load, w.clock.Now(), over)
			if last.Outcome == sample.Left {
				next.Outcome = sample.Left
			}
		} else {
			messages = append(messages, Message{Role: "assistant", Content: string(w.kept.Text)}, Message{Role: "user", Content: turn.Prompt})
			w.turn(ctx, next, turn.request(messages), p.leave.at(i+1))
		}
		next.Turn = i + 1
		w.client.ended.Add(1)
	}
}

// turn sends r, which needs no schedule.
func (w *worker) turn(ctx context.Context, s *sample.Sample, r Request, l leave) {
	p, err := w.load.post(w.client.target, r)
	if err != nil { // though the same turn could be said before the pass
		*s = unsent(w.load, w.clock.Now(), err)
		s.Outcome = sample.Malformed
		return
	}
	w.send(ctx, s, &p, l, 0, false)
}

// sleep returns after d, or with why ctx ended before that.
func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// notSent gives p the samples of requests that the end of the pass overtook.
func (p *post) notSent(ctx context.Context, l *Load, at time.Duration, samples []sample.Sample) {
	for i := range p.samples() {
		s := unsent(l, at, context.Cause(ctx))
		s.Turn, s.Scheduled = i, l.Arrivals != nil && i == 0
		samples[p.at+i] = s
	}
}

// unsent is the sample of a request that was not sent.
func unsent(l *Load, at time.Duration, why error) sample.Sample {
	return sample.Sample{
		Due: at, Start: at, End: at,
		Streamed: !l.NoStream,
		Outcome:  sample.Canceled,
		Err:      errors.Join(errNotSent, why),
	}
}
