package send

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// send sends p with w. If p is a session, it also sends each further turn, after the replies to the turns that it waits
// for. It adds each sample to the recorder when its request ends. It returns the time from the first send to the last end
// (0 unless all turns succeeded), and the last end, both on the user clock.
func (lp *loop) send(ctx context.Context, w *Worker, p *Post, at schedule) (took, end time.Duration) {
	w.in.keepText = w.options.keepsText() || len(p.Turns) > 0 || p.Check != nil
	w.echo = nil
	var se *session
	if len(p.Turns) > 0 {
		if len(lp.client.server.Echo) > 0 {
			w.echo = &echo{}
		}
		se = lp.begin(ctx, w, p)
		defer se.stop(nil)
	}
	s := &sample.Sample{}
	w.send(ctx, s, p, p.Leave.inTurn(p.Turn), at.due, at.set)
	s.Turn = p.Turn
	if at.granted > at.due {
		s.Granted = at.granted
	}
	start, end, outcome := s.Start, s.End+s.EndLag, s.Outcome
	if se == nil {
		w.ended(s, p.Check)
	} else {
		outcome, end = se.finish(ctx, w, s)
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

// begin begins the session of p, whose first turn the caller then sends with w. It sends the other turns that wait for none.
func (lp *loop) begin(ctx context.Context, w *Worker, p *Post) *session {
	s := &session{loop: lp, post: p, turns: make([]turnState, 1+len(p.Turns)), outcome: sample.OK}
	s.going, s.stop = context.WithCancelCause(lp.sending)
	begun := lp.clock.Now()
	var roots []int
	for i := range p.Turn {
		s.turns[i].sent = begun
	}
	for i := p.Turn + 1; i <= len(p.Turns); i++ {
		one := &s.turns[i]
		one.ready = begun
		for _, before := range p.Turns[i-1].After {
			if before >= p.Turn {
				one.waits++
				s.turns[before].next = append(s.turns[before].next, i)
			}
		}
		if one.waits == 0 {
			roots = append(roots, i)
		}
	}
	s.branch(ctx, w.echo, roots)
	return s
}

// finish sends the turns that wait for the first turn, of which one is the sample, and waits until all turns of the session have ended. It
// returns OK, or the outcome of the first turn that failed, and the last end on the user clock.
func (s *session) finish(ctx context.Context, w *Worker, one *sample.Sample) (outcome sample.Outcome, end time.Duration) {
	next := s.end(s.post.Turn, one, string(w.in.text.Text))
	s.follow(ctx, w, next, w.ended(one, s.post.Check))
	s.branches.Wait()
	return s.outcome, s.last
}

// A session is a post with further turns that is being sent. A turn is sent when all the turns that it waits for have ended.
// Turns that wait for the same turn are in flight at the same time, with a worker each.
type session struct {
	*loop
	post     *Post
	branches sync.WaitGroup
	going    context.Context // ends when a turn has failed, and when no further turns should be sent
	stop     context.CancelCauseFunc

	mu      sync.Mutex
	turns   []turnState
	outcome sample.Outcome // of the first turn that failed
	last    time.Duration  // the last end, on the user clock
}

// A turnState is the state of a turn of a session. All fields except next are guarded by the mutex of the session.
type turnState struct {
	next  []int         // the turns that wait for it
	waits int           // how many of the turns that it waits for have not ended
	ready time.Duration // the end of the last one of those that have ended
	sent  time.Duration
	reply string
}

// follow sends turns that no longer wait, and then the turns that wait for them: the first of several with w, and each other
// one with a worker of its own. The argument waited is for how long w waited for the recorder after the last turn.
func (s *session) follow(ctx context.Context, w *Worker, turns []int, waited time.Duration) {
	for len(turns) > 0 {
		s.branch(ctx, w.echo, turns[1:])
		turns, waited = s.take(ctx, w, turns[0], waited)
	}
}

// branch begins to send turns that no longer wait, and those that wait for them, each with a worker of its own.
func (s *session) branch(ctx context.Context, e *echo, turns []int) {
	for _, i := range turns {
		s.branches.Add(1)
		s.loop.branches.Go(func() {
			defer s.branches.Done()
			s.guard(func() {
				w := s.takeWorker()
				w.in.keepText, w.echo = true, e
				s.follow(ctx, w, []int{i}, 0)
				s.returnWorker(w, 0)
			})
		})
	}
}

// take sends turn i, or adds the sample of a turn that is not sent if the session has ended. It returns the turns that
// waited only for this one, and for how long the turn waited for the recorder. The request is built before the pause, so that
// this takes no time after it.
func (s *session) take(ctx context.Context, w *Worker, i int, waited time.Duration) (next []int, _ time.Duration) {
	t := &s.post.Turns[i-1]
	one, reply := &sample.Sample{}, ""
	p, invalid := s.built(i)
	switch why := s.pause(i, t, waited); {
	case why == errEnough: // as for posts that are not sent, there is no sample
		s.cut.Store(true)
		return nil, 0
	case why == errOver:
		*one = unsent(w.options, w.clock, s.pass.For, why)
		one.Outcome = sample.Left
	case why != nil:
		*one = unsent(w.options, w.clock, w.clock.Now(), why)
		if o := s.failed(); o == sample.Left || o == sample.Shed {
			one.Outcome = o
		}
	case invalid != nil: // with these replies, the dialect cannot express the turn
		*one = unsent(w.options, w.clock, w.clock.Now(), invalid)
		one.Outcome = sample.Malformed
	default:
		w.send(ctx, one, &p, s.post.Leave.inTurn(i), 0, false)
		reply = string(w.in.text.Text)
	}
	one.Request, one.Turn, one.Model = s.post.Request, i, s.post.Model
	next = s.end(i, one, reply)
	return next, w.ended(one, t.Check)
}

// built returns the post of turn i, which is empty if the session has ended.
func (s *session) built(i int) (p Post, err error) {
	if s.going.Err() == nil {
		p, err = s.post.Next(i, s.replyTo)
	}
	p.Request, p.Turn = s.post.Request, i
	return p, err
}

// pause waits until turn i is due. It returns the reason if the turn must not be sent, because the session or the pass has
// ended. If the turn is late because its worker waited for the recorder, the client is to blame.
func (s *session) pause(i int, t *Turn, waited time.Duration) error {
	s.mu.Lock()
	ready := s.turns[i].ready
	sent := ready
	if len(t.After) > 0 {
		sent = s.turns[t.After[0]].sent
	}
	s.mu.Unlock()
	due := t.due(ready, sent)
	over := s.pass.CutSessions && due >= s.pass.For
	if over {
		due = s.pass.For // until then, the user has a session
	}
	left := due - s.clock.Now()
	if !over {
		s.recorder.addLate(s.post.Request, min(waited, -left))
	}
	if err := Sleep(s.going, max(0, left)); err != nil || !over {
		return err
	}
	return errOver
}

// errOver is the reason why a turn is not sent that is due after the time of the pass. It ends no other turn of its session.
var errOver = errors.New("the time of the pass was over")

// end notes that turn i has ended, and returns the turns that waited only for this one. If the turn failed, no further turn of
// the session is sent.
func (s *session) end(i int, of *sample.Sample, reply string) (next []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.Outcome != sample.OK && !errors.Is(of.Err, errOver) {
		if s.outcome == sample.OK {
			s.outcome = of.Outcome
		}
		s.stop(fmt.Errorf("turn %d of its session: %s", i, of.Outcome))
	}
	s.last = max(s.last, of.End+of.EndLag)
	ended := &s.turns[i]
	ended.sent, ended.reply = of.Start, reply
	for _, k := range ended.next {
		waiting := &s.turns[k]
		waiting.ready = max(waiting.ready, of.End)
		if waiting.waits--; waiting.waits == 0 {
			next = append(next, k)
		}
	}
	return next
}

// failed returns the outcome of the first turn that failed, or OK.
func (s *session) failed() sample.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcome
}

// replyTo returns the reply to a turn that has ended.
func (s *session) replyTo(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[i].reply
}
