package llmbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A schedule is when a request is due in an open loop. The zero value is that of a request
// without a schedule.
type schedule struct {
	set     bool
	due     time.Duration
	granted time.Duration // see [sample.Sample]; ignored if it is no later than due
}

// sendTurns sends p and, if p is a session, each further turn after the reply to the turn
// before it. Each sample is handed to the recorder when its request ends. sendTurns returns the time
// from the first send to the last end, or 0 unless all turns succeeded, and the last end, both by the
// user's clock.
func (w *worker) sendTurns(ctx context.Context, p *post, at schedule) (took, end time.Duration) {
	w.in.keepText = w.load.keepsText() || len(p.then) > 0 || p.check != nil
	s := &sample.Sample{}
	w.send(ctx, s, p, p.leave.inTurn(0), at.due, at.set)
	if at.granted > at.due {
		s.Granted = at.granted
	}
	start := s.Start
	end = s.End + s.EndLag
	outcome := s.Outcome
	waited := w.ended(s, p.check)
	if len(p.then) > 0 {
		outcome, end = w.sendFurtherTurns(ctx, p, outcome, waited)
	}
	if outcome != sample.OK {
		return 0, end
	}
	return end - start, end
}

// ended hands over the sample of a request that has ended, which the caller must not use any more, and
// the check of its answer, or nil. It returns how long it waited for the recorder.
func (w *worker) ended(s *sample.Sample, check func(Answer) error) (waited time.Duration) {
	w.client.ended.Add(1)
	return w.recorder.add(s, check)
}

// sendFurtherTurns sends the turns of a session after the first, which had an outcome and has waited
// for the recorder. It returns the outcome of the last one, and its end by the user's clock.
//
// The wait for the recorder is part of the time to think. What is longer makes the turn late, which
// is the client's fault.
func (w *worker) sendFurtherTurns(ctx context.Context, p *post, outcome sample.Outcome, waited time.Duration) (last sample.Outcome, end time.Duration) {
	messages := p.messages[:len(p.messages):len(p.messages)] // another pass may send them too
	var stopped error                                        // why no further turn is sent
	for i, turn := range p.then {
		if stopped == nil && outcome != sample.OK {
			stopped = fmt.Errorf("turn %d of its session: %s", i, outcome)
		}
		if stopped == nil {
			stopped = sleep(ctx, max(0, turn.Think-waited))
			w.recorder.addLate(p.request, waited-turn.Think)
		}
		next := &sample.Sample{}
		if stopped != nil {
			*next = unsent(w.load, w.clock, w.clock.Now(), stopped)
			if outcome == sample.Left {
				next.Outcome = sample.Left
			}
		} else {
			messages = append(messages, Message{Role: "assistant", Content: string(w.in.text.Text)}, Message{Role: "user", Content: turn.Prompt})
			w.sendTurn(ctx, next, turn.request(messages), p.request, i+1, p.leave.inTurn(i+1))
		}
		next.Request, next.Turn = p.request, i+1
		end = next.End + next.EndLag
		outcome = next.Outcome
		waited = w.ended(next, turn.Check)
	}
	return outcome, end
}

// sendTurn sends r, a further turn of a request, which has no schedule.
func (w *worker) sendTurn(ctx context.Context, s *sample.Sample, r Request, request, turn int, l leave) {
	p, err := newPost(w.load, w.client.target, r)
	if err != nil { // the replies make the turn one that the dialect cannot express
		*s = unsent(w.load, w.clock, w.clock.Now(), err)
		s.Outcome = sample.Malformed
		return
	}
	p.request, p.turn = request, turn
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

// skip hands over the samples of a post that is not sent because the pass has ended.
func (lp *loop) skip(ctx context.Context, p *post, at time.Duration) {
	for i := range p.samples() {
		s := unsent(lp.load, lp.clock, at, context.Cause(ctx))
		s.Request, s.Turn, s.Scheduled = p.request, i, lp.load.Arrivals != nil && i == 0
		lp.recorder.add(&s, nil)
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
