package calibrate

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A sentRequest is a request that a client has sent, and its result.
type sentRequest struct {
	at, first, end time.Duration
	streamed       bool // first is known, and end is that of the last token
	tokens         int
	state          outcome
}

type outcome int

const (
	pending outcome = iota
	succeeded
	failed // timed out and counted
	lost   // timed out and in no counter
)

// A run is what a client has seen of a load.
type run struct {
	requests []sentRequest
	engine   engine.Counts
}

// A client sends a load in a closed loop.
type client struct {
	concurrency int
	timeout     time.Duration // 0 means never
	window      time.Duration // no request is sent after it; 0 means no end
	// mortal says that a worker whose first request times out dies, and that the
	// request is in no counter, as with EvalScope of October 2024.
	mortal bool
}

// send sends the jobs, in order, to an engine. Jobs whose index is in patient have no
// timeout.
func (c client) send(p engine.Profile, jobs []engine.Job, patient map[int]bool) (run, error) {
	r := run{requests: make([]sentRequest, len(jobs))}
	l := &loop{client: c, jobs: jobs, run: &r, patient: patient, seqs: make([]*engine.Sequence, len(jobs)), workers: make([]worker, min(c.concurrency, len(jobs)))}
	e, err := engine.New(p, engine.Watcher{Ended: l.ended})
	if err != nil {
		return run{}, err
	}
	l.engine = e
	for w := range l.workers {
		if err := l.next(w, 0); err != nil {
			return run{}, err
		}
	}
	for {
		at, ok := e.NextChange()
		if due := l.due(); due < math.MaxInt64 && (!ok || due <= at) {
			at, ok = due, true
		}
		if !ok {
			break
		}
		e.Advance(at)
		l.expire(at)
		free := l.free
		l.free = nil
		for _, w := range free {
			if err := l.next(w, at); err != nil {
				return run{}, err
			}
		}
		if l.busy == 0 {
			break // the engine may still compute requests that have timed out
		}
	}
	r.engine = e.Counts()
	return r, nil
}

// A loop is a client that sends a load.
type loop struct {
	client
	engine  *engine.Engine
	jobs    []engine.Job
	seqs    []*engine.Sequence
	patient map[int]bool
	run     *run
	workers []worker
	sent    int
	busy    int
	free    []int     // workers whose request has ended
	waiting []timeout // in the order of their ends
}

type worker struct {
	job   int
	began bool // its first request has ended
}

type timeout struct {
	worker, job int
	at          time.Duration
}

// A sending is which worker has sent which request; see [engine.Job].
type sending struct{ worker, request int }

// next makes a worker send the next request.
func (l *loop) next(w int, now time.Duration) error {
	if l.sent == len(l.jobs) || l.window > 0 && now >= l.window {
		return nil
	}
	i := l.sent
	l.sent++
	j := l.jobs[i]
	j.Ref = sending{w, i}
	l.workers[w].job = i
	l.run.requests[i].at = now
	l.busy++
	s, err := l.engine.Submit(now, j)
	if err != nil {
		return err
	}
	l.seqs[i] = s
	if l.timeout > 0 && !l.patient[i] {
		l.waiting = append(l.waiting, timeout{w, i, now + l.timeout})
	}
	return nil
}

// due returns when the next timeout ends.
func (l *loop) due() time.Duration {
	for len(l.waiting) > 0 && l.run.requests[l.waiting[0].job].state != pending {
		l.waiting = l.waiting[1:]
	}
	if len(l.waiting) == 0 {
		return math.MaxInt64
	}
	return l.waiting[0].at
}

// expire gives up the requests that have timed out by now.
func (l *loop) expire(now time.Duration) {
	for l.due() <= now {
		t := l.waiting[0]
		r := &l.run.requests[t.job]
		r.end, r.state = now, failed
		l.busy--
		if l.mortal && !l.workers[t.worker].began {
			r.state = lost
		} else {
			l.free = append(l.free, t.worker)
		}
		l.workers[t.worker].began = true
		l.engine.Cancel(now, l.seqs[t.job])
	}
}

// ended is called by the engine when a sequence has ended.
func (l *loop) ended(s *engine.Sequence, at time.Duration) {
	by := s.Job.Ref.(sending)
	w, i := by.worker, by.request
	r := &l.run.requests[i]
	if r.state != pending || s.State != engine.Finished {
		return // the client has given up
	}
	r.streamed, r.first, r.end, r.tokens, r.state = true, s.First, at, s.Tokens(), succeeded
	l.busy--
	l.workers[w].began = true
	l.free = append(l.free, w)
}
