package send

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/wake"
)

// A loop sends the posts of one pass.
type loop struct {
	client   *Client
	number   int64 // of the pass among those of the client, from 1
	pass     *Pass
	posts    <-chan *Post
	clock    conn.Clock
	flight   audit.Flight
	recorder *recorder
	giveUp   context.CancelCauseFunc // ends the pass
	exited   atomic.Bool             // see guard

	mu      sync.Mutex
	longest time.Duration // guarded by mu; of the posts whose requests all succeeded
	late    time.Duration // guarded by mu; see Result
	free    []*Worker     // guarded by mu; the workers of an open loop without a request
}

// closed keeps as many requests in flight as there are workers.
func (lp *loop) closed(ctx context.Context) {
	var wg sync.WaitGroup
	for k := range min(lp.pass.Workers, lp.pass.Posts.N) {
		wg.Go(func() {
			w := lp.newWorker()
			begin := lp.pass.Offset + time.Duration(k)*lp.pass.Stagger
			Sleep(ctx, max(0, begin-lp.clock.Now())) // if ctx ends, no request is sent below
			lp.beganLate(lp.clock.Now() - begin)
			lp.guard(func() { lp.work(ctx, w) })
		})
	}
	wg.Wait()
	for p := range lp.posts { // of workers that have exited
		lp.skip(ctx, p, lp.clock.Now())
	}
}

// beganLate notes that something began late.
func (lp *loop) beganLate(by time.Duration) {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	lp.late = max(lp.late, by)
}

// errExited is the error of a pass of which a goroutine has exited.
var errExited = errors.New("a request ended its goroutine with runtime.Goexit, as Fatal of package testing does; a Target.Dial must return its error, and a Lazy.At its request")

// guard calls f, which builds posts, or sends them with a worker. If f calls runtime.Goexit, samples
// and places are lost, and guard ends the pass.
func (lp *loop) guard(f func()) {
	returned := false
	defer func() {
		if !returned {
			lp.exited.Store(true)
			lp.giveUp(errExited)
		}
	}()
	f()
	returned = true
}

// work sends posts with w, one after the other, until none are left.
func (lp *loop) work(ctx context.Context, w *Worker) {
	longest := time.Duration(0)
	for p := range lp.posts {
		if ctx.Err() != nil {
			lp.skip(ctx, p, lp.clock.Now())
			continue
		}
		took, _ := w.sendTurns(ctx, p, schedule{})
		longest = max(longest, took)
	}
	lp.mu.Lock()
	defer lp.mu.Unlock()
	lp.longest = max(lp.longest, longest)
}

// open sends each request when it is due. The instants are absolute: a late request makes no
// other request late, unless it is one of MaxInFlight.
func (lp *loop) open(ctx context.Context) {
	due := lp.pass.Due
	var wg sync.WaitGroup
	waker := wake.New()
	defer waker.Close()
	// The places of the requests in flight, if they are bounded. A value is the instant
	// since which the place is free.
	var places chan time.Duration
	if lp.pass.MaxInFlight > 0 {
		places = make(chan time.Duration, min(lp.pass.MaxInFlight, lp.pass.Posts.N))
		for range cap(places) {
			places <- 0
		}
	}
	for p := range lp.posts {
		i := p.Request
		waker.Until(ctx, lp.clock.Start().Add(due[i]))
		granted := time.Duration(0)
		if places != nil {
			select {
			case granted = <-places:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			lp.skip(ctx, p, min(due[i], lp.clock.Now()))
			continue
		}
		w := lp.takeWorker()
		wg.Go(func() {
			lp.guard(func() {
				took, end := w.sendTurns(ctx, p, schedule{set: true, due: due[i], granted: granted})
				lp.returnWorker(w, took)
				if places != nil {
					places <- min(end, lp.clock.Now())
				}
			})
		})
	}
	wg.Wait()
}

// takeWorker returns a worker without a request.
func (lp *loop) takeWorker() *Worker {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	if n := len(lp.free); n > 0 {
		w := lp.free[n-1]
		lp.free = lp.free[:n-1]
		return w
	}
	return lp.newWorker()
}

// newWorker returns a new worker of the pass.
func (lp *loop) newWorker() *Worker {
	w := NewWorker(lp.client, &lp.pass.Options, lp.clock, &lp.flight)
	w.recorder, w.pass = lp.recorder, lp.number
	return w
}

// returnWorker keeps a worker for later requests. It has sent a post that took so long; see sendTurns.
func (lp *loop) returnWorker(w *Worker, took time.Duration) {
	lp.mu.Lock()
	lp.free = append(lp.free, w)
	lp.longest = max(lp.longest, took)
	lp.mu.Unlock()
}

// skip hands over the samples of a post that is not sent because the pass has ended.
func (lp *loop) skip(ctx context.Context, p *Post, at time.Duration) {
	for i := range p.Samples() {
		s := unsent(&lp.pass.Options, lp.clock, at, context.Cause(ctx))
		s.Request, s.Turn, s.Scheduled = p.Request, i, lp.pass.Due != nil && i == 0
		lp.recorder.add(&s, nil)
	}
}
