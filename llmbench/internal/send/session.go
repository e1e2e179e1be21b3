package send

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A schedule says when a request is due in an open loop. The zero value is for a request without a
// schedule.
type schedule struct {
	set     bool
	due     time.Duration
	granted time.Duration // see [sample.Sample]; ignored if it is not later than due
}

// sendTurns sends p. If p is a session, it also sends each further turn, after the reply to the turn
// before. It adds each sample to the recorder when its request ends. It returns the time from the first
// send to the last end (0 unless all turns succeeded), and the last end, both on the user clock.
func (w *Worker) sendTurns(ctx context.Context, p *Post, at schedule) (took, end time.Duration) {
	w.in.keepText = w.options.keepsText() || len(p.Turns) > 0 || p.Check != nil
	w.echo = echo{}
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
		outcome, end = w.sendFurtherTurns(ctx, p, outcome, end-start, waited)
	}
	if outcome != sample.OK {
		return 0, end
	}
	return end - start, end
}

// ended adds the sample of a request that has ended to the recorder. The caller must no longer use the
// sample. The argument check is the check of the answer, or nil. ended returns for how long it waited for
// the recorder.
func (w *Worker) ended(s *sample.Sample, check func(Answer) error) (waited time.Duration) {
	w.client.ended.Add(1)
	return w.recorder.add(s, check)
}

// sendFurtherTurns sends the turns of a session after the first. The arguments outcome, took and waited are the
// outcome of the first turn, its duration, and for how long it waited for the recorder. The results are the outcome of
// the last turn, and its end on the user clock.
//
// The wait for the recorder counts as a part of the pause before the next turn. If the wait is longer than
// the pause, the turn is late, and the client is to blame.
func (w *Worker) sendFurtherTurns(ctx context.Context, p *Post, outcome sample.Outcome, took, waited time.Duration) (last sample.Outcome, end time.Duration) {
	var replies []string
	var stopped error // the reason why no further turn is sent
	for i, turn := range p.Turns {
		if stopped == nil && outcome != sample.OK {
			stopped = fmt.Errorf("turn %d of its session: %s", i, outcome)
		}
		if stopped == nil {
			pause := turn.pause(took)
			stopped = Sleep(ctx, max(0, pause-waited))
			w.recorder.addLate(p.Request, waited-pause)
		}
		next := &sample.Sample{}
		if stopped != nil {
			*next = unsent(w.options, w.clock, w.clock.Now(), stopped)
			if outcome == sample.Left || outcome == sample.Shed {
				next.Outcome = outcome
			}
		} else {
			replies = append(replies, string(w.in.text.Text))
			w.sendTurn(ctx, next, p, replies)
		}
		next.Request, next.Turn, next.Model = p.Request, i+1, p.Model
		end = next.End + next.EndLag
		took = end - next.Start
		outcome = next.Outcome
		waited = w.ended(next, turn.Check)
	}
	return outcome, end
}

// sendTurn sends the turn of p that follows the given replies. The turn has no schedule.
func (w *Worker) sendTurn(ctx context.Context, s *sample.Sample, p *Post, replies []string) {
	next, err := p.Next(replies)
	if err != nil { // with these replies, the dialect cannot express the turn
		*s = unsent(w.options, w.clock, w.clock.Now(), err)
		s.Outcome = sample.Malformed
		return
	}
	next.Request, next.Turn = p.Request, len(replies)
	w.send(ctx, s, &next, p.Leave.inTurn(next.Turn), 0, false)
}
