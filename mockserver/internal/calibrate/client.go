package calibrate

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A sentRequest is a request that a client sent, and its result.
type sentRequest struct {
	at, first, end time.Duration
	streamed       bool // first is known, and end is the time of the last token
	tokens         int
	state          outcome
}

type outcome int

const (
	pending outcome = iota
	succeeded
	failed // timed out and counted by the client as a failure
	lost   // timed out and in no counter of the client
)

// A run is the client's view of a load: all requests with their results.
type run struct {
	requests []sentRequest
	engine   engine.Counts
}

// A client sends a load in a closed loop.
type client struct {
	concurrency int
	timeout     time.Duration // 0 means never
	window      time.Duration // time after which no request is sent; 0 means unlimited
	// mortal says that a worker dies if its first request times out, and that the request is then in no
	// counter. EvalScope of October 2024 behaves in this way.
	mortal bool
}

// send sends the jobs to an engine, in order. Jobs whose index is in patient never time out.
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
			break // the engine may still work on requests that timed out
		}
	}
	r.engine = e.Counts()
	return r, nil
}

// A loop is the state of a client while it sends a load.
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
	free    []int     // workers that can send the next request
	waiting []timeout // sorted by time
}

type worker struct {
	job   int
	began bool // the worker's first request has ended
}

type timeout struct {
	worker, job int
	at          time.Duration
}

// A sending says which worker sent which request. It is the Ref of the request's [engine.Job].
type sending struct{ worker, request int }

// next lets a worker send the next request, if there is one.
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

// due returns the time of the next timeout, or math.MaxInt64 if there is none.
func (l *loop) due() time.Duration {
	for len(l.waiting) > 0 && l.run.requests[l.waiting[0].job].state != pending {
		l.waiting = l.waiting[1:]
	}
	if len(l.waiting) == 0 {
		return math.MaxInt64
	}
	return l.waiting[0].at
}

// expire gives up the requests whose timeout is now or earlier.
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

// The engine calls ended when a sequence has ended.
func (l *loop) ended(s *engine.Sequence, at time.Duration) {
	by := s.Job.Ref.(sending)
	w, i := by.worker, by.request
	r := &l.run.requests[i]
	if r.state != pending || s.State != engine.Finished {
		return // the client had given up before
	}
	r.streamed, r.first, r.end, r.tokens, r.state = true, s.First, at, s.Tokens(), succeeded
	l.busy--
	l.workers[w].began = true
	l.free = append(l.free, w)
}
