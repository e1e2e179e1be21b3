package llmbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// sendTurns sends p and, if p is a session, each further turn after the reply to the turn
// before it. It writes the samples of the turns into those of the pass.
func (w *worker) sendTurns(ctx context.Context, p *post, due time.Duration, scheduled bool, samples []sample.Sample) {
	samples = samples[p.first:][:p.samples()]
	if len(p.then) > 0 {
		defer func(was bool) { w.in.keepText = was }(w.in.keepText)
		w.in.keepText = true
	}
	w.send(ctx, &samples[0], p, p.leave.inTurn(0), due, scheduled)
	w.client.ended.Add(1)
	if len(p.then) > 0 {
		w.sendFurtherTurns(ctx, p, samples)
	}
}

// sendFurtherTurns sends the turns of a session after the first. The first of samples is
// that of the first turn.
func (w *worker) sendFurtherTurns(ctx context.Context, p *post, samples []sample.Sample) {
	messages := p.messages[:len(p.messages):len(p.messages)] // another pass may send them too
	var stopped error                                        // why no further turn is sent
	for i, turn := range p.then {
		last, next := &samples[i], &samples[i+1]
		if stopped == nil && last.Outcome != sample.OK {
			stopped = fmt.Errorf("turn %d of its session: %s", i, last.Outcome)
		}
		if stopped == nil {
			stopped = sleep(ctx, turn.Think)
		}
		if stopped != nil {
			*next = unsent(w.load, w.clock, w.clock.Now(), stopped)
			if last.Outcome == sample.Left {
				next.Outcome = sample.Left
			}
		} else {
			messages = append(messages, Message{Role: "assistant", Content: string(w.in.text.Text)}, Message{Role: "user", Content: turn.Prompt})
			w.sendTurn(ctx, next, turn.request(messages), p.leave.inTurn(i+1))
		}
		next.Turn = i + 1
		w.client.ended.Add(1)
	}
}

// sendTurn sends a further turn, which has no schedule.
func (w *worker) sendTurn(ctx context.Context, s *sample.Sample, r Request, l leave) {
	p, err := newPost(w.load, w.client.target, r)
	if err != nil { // the replies make the turn one that the dialect cannot express
		*s = unsent(w.load, w.clock, w.clock.Now(), err)
		s.Outcome = sample.Malformed
		return
	}
	w.send(ctx, s, &p, l, 0, false)
}

// sleep waits for d. If ctx ends before, sleep returns the cause at once.
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

// skipTurns writes the samples of a post that is not sent because the pass has ended.
func skipTurns(ctx context.Context, p *post, l *Load, c conn.Clock, at time.Duration, samples []sample.Sample) {
	for i := range p.samples() {
		s := unsent(l, c, at, context.Cause(ctx))
		s.Turn, s.Scheduled = i, l.Arrivals != nil && i == 0
		samples[p.first+i] = s
	}
}

// unsent returns the sample of a request that is not sent. The instant is on clock c.
func unsent(l *Load, c conn.Clock, at time.Duration, why error) sample.Sample {
	return sample.Sample{
		Epoch: c.Epoch(),
		Due:   at, Start: at, End: at,
		Streamed: !l.NoStream,
		Outcome:  sample.Canceled,
		Err:      errors.Join(errNotSent, why),
	}
}
