package send

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A schedule is when a request is due in an open loop. The zero value is for a request
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
func (w *Worker) sendTurns(ctx context.Context, p *Post, at schedule) (took, end time.Duration) {
	w.in.keepText = w.options.keepsText() || len(p.Turns) > 0 || p.Check != nil
	s := &sample.Sample{}
	w.send(ctx, s, p, p.Leave.inTurn(0), at.due, at.set)
	if at.granted > at.due {
		s.Granted = at.granted
	}
	start := s.Start
	end = s.End + s.EndLag
	outcome := s.Outcome
	waited := w.ended(s, p.Check)
	if len(p.Turns) > 0 {
		outcome, end = w.sendFurtherTurns(ctx, p, outcome, waited)
	}
	if outcome != sample.OK {
		return 0, end
	}
	return end - start, end
}

// ended hands over the sample of a request that has ended, which the caller must not use any more, and
// the check of its answer, or nil. It returns how long it waited for the recorder.
func (w *Worker) ended(s *sample.Sample, check func(Answer) error) (waited time.Duration) {
	w.client.ended.Add(1)
	return w.recorder.add(s, check)
}

// sendFurtherTurns sends the turns of a session after the first, which had an outcome and has waited
// for the recorder. It returns the outcome of the last one, and its end by the user's clock.
//
// The wait for the recorder is part of the time to think. What is longer makes the turn late, which
// is the client's fault.
func (w *Worker) sendFurtherTurns(ctx context.Context, p *Post, outcome sample.Outcome, waited time.Duration) (last sample.Outcome, end time.Duration) {
	var replies []string
	var stopped error // why no further turn is sent
	for i, turn := range p.Turns {
		if stopped == nil && outcome != sample.OK {
			stopped = fmt.Errorf("turn %d of its session: %s", i, outcome)
		}
		if stopped == nil {
			stopped = Sleep(ctx, max(0, turn.Think-waited))
			w.recorder.addLate(p.Request, waited-turn.Think)
		}
		next := &sample.Sample{}
		if stopped != nil {
			*next = unsent(w.options, w.clock, w.clock.Now(), stopped)
			if outcome == sample.Left {
				next.Outcome = sample.Left
			}
		} else {
			replies = append(replies, string(w.in.text.Text))
			w.sendTurn(ctx, next, p, replies)
		}
		next.Request, next.Turn = p.Request, i+1
		end = next.End + next.EndLag
		outcome = next.Outcome
		waited = w.ended(next, turn.Check)
	}
	return outcome, end
}

// sendTurn sends the turn of p that follows so many replies. It has no schedule.
func (w *Worker) sendTurn(ctx context.Context, s *sample.Sample, p *Post, replies []string) {
	next, err := p.Next(replies)
	if err != nil { // the replies make the turn one that the dialect cannot express
		*s = unsent(w.options, w.clock, w.clock.Now(), err)
		s.Outcome = sample.Malformed
		return
	}
	next.Request, next.Turn = p.Request, len(replies)
	w.send(ctx, s, &next, p.Leave.inTurn(next.Turn), 0, false)
}
