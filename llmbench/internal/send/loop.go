package send

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/wake"
)

// A passage is a pass that is made: what its loops have in common.
type passage struct {
	client   *Client
	number   int64 // number of the pass among the client's passes, from 1
	pass     *Pass
	loops    []*loop // of the classes
	clock    conn.Clock
	flight   audit.Flight
	recorder *recorder
	giveUp   context.CancelCauseFunc // ends the pass with an error
	exited   atomic.Bool             // see guard

	mu      sync.Mutex
	longest time.Duration // guarded by mu; the longest post whose requests all succeeded
	late    time.Duration // guarded by mu; see Result.Late
	workers []*Worker     // guarded by mu; all workers
}

// A loop sends the posts of one class.
type loop struct {
	*passage
	class  *Class
	posts  <-chan *Post
	enough func() // ends the building of posts of a closed loop for a time

	drawing sync.Mutex    // held while a worker of a closed loop draws a post
	over    bool          // guarded by drawing; no more posts are drawn
	stopped string        // guarded by drawing; see Result.Stopped
	cut     atomic.Bool   // see Result.Cut
	ended   chan struct{} // closed when over is set

	undrawn error // why posts could not be drawn; written before posts is closed

	free []*Worker // guarded by mu; workers of an open loop, and of branches of sessions, that have no request

	sending context.Context // ends with the pass, and with Enough

	branches sync.WaitGroup // of all sessions; they are in flight for a while after a worker has exited
}

// run sends all posts.
func (lp *loop) run(ctx context.Context) {
	sending, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	lp.sending = sending
	go func() {
		select {
		case <-lp.pass.Enough:
			stop(errEnough)
		case <-sending.Done():
		}
	}()
	if lp.class.Due != nil {
		lp.open(ctx)
	} else {
		lp.closed(ctx)
	}
	lp.branches.Wait()
}

// closed runs a closed loop: it keeps as many requests in flight as there are users at the time.
func (lp *loop) closed(ctx context.Context) {
	var wg sync.WaitGroup
	for _, stays := range lp.class.Stays[:min(len(lp.class.Stays), lp.class.Posts.N)] {
		wg.Go(func() {
			lp.mu.Lock()
			w := lp.newWorker()
			lp.mu.Unlock()
			lp.guard(func() {
				for i, stay := range stays {
					lp.await(ctx, stay.From, i > 0)
					lp.work(ctx, w, stay.To)
				}
			})
		})
	}
	wg.Wait()
	if lp.pass.For > 0 || lp.cut.Load() {
		lp.drain()
		return
	}
	for p := range lp.posts { // posts that remain because workers have exited
		lp.skip(ctx, p, lp.clock.Now())
	}
}

// await waits until the instant at which the user of a worker comes, or until no more posts are drawn. The user may come again:
// it is then not late if it was still waiting for an answer.
func (lp *loop) await(ctx context.Context, at time.Duration, again bool) {
	wait := at - lp.clock.Now()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-lp.ended:
		case <-ctx.Done(): // no request is sent then
		}
	} else if again {
		return
	}
	lp.beganLate(lp.clock.Now() - at)
}

// drain receives all remaining posts.
func (lp *loop) drain() {
	lp.enough()
	for range lp.posts {
	}
}

// failDraw ends the pass because posts could not be drawn.
func (lp *loop) failDraw(err error) {
	lp.undrawn = err
	lp.giveUp(err)
}

// draw returns the next post of a closed loop, or nil if no more are sent, or if the user leaves. If the loop is for a time, and a
// post is not sent because the time is over, no later post is sent either: the posts that are sent are the first ones.
func (lp *loop) draw(ctx context.Context, leaves time.Duration) *Post {
	lp.drawing.Lock()
	defer lp.drawing.Unlock()
	if lp.over || lp.clock.Now() >= leaves {
		return nil
	}
	p := <-lp.posts
	if lp.pass.For > 0 && p != nil {
		lp.stopped = lp.failing()
		if lp.clock.Now() >= lp.pass.For || ctx.Err() != nil || lp.stopped != "" {
			p = nil
		}
	}
	if p != nil && lp.enoughSent() {
		p = nil
	}
	if lp.over = p == nil; lp.over {
		close(lp.ended)
	}
	return p
}

// errEnough is the reason why no further turns of sessions are sent after Enough.
var errEnough = errors.New("no further requests are sent")

// enoughSent reports whether no further posts should be sent. It must be called before a post is sent.
func (lp *loop) enoughSent() bool {
	select {
	case <-lp.pass.Enough:
		lp.cut.Store(true)
		return true
	default:
		return false
	}
}

// hopelessly is the least number of successive failed or shed requests after which a loop for a time ends early. It is more
// with many workers: each of them has then failed several times.
const hopelessly = 100

// failing returns a text that says why a loop for a time should end early, or "": more requests have failed, or were shed,
// than are tolerated, and so many in a row that the others would fail, too. They may fail at once, and would be many.
func (lp *loop) failing() string {
	many := max(hopelessly, 10*lp.pass.users())
	row, lost := int(lp.recorder.row.Load()), int(lp.recorder.lost.Load())
	switch failed, shed := int(lp.recorder.failed.Load()), int(lp.recorder.shed.Load()); {
	case row >= many && (lp.pass.MostFailed < 0 || failed > lp.mostFailed()):
	case lost >= many && shed > int(lp.pass.MaxShed*float64(lp.flight.Sent())):
	default:
		return ""
	}
	return fmt.Sprintf("no requests were sent after %v, because the last %d had failed or been shed", lp.clock.Now().Round(time.Millisecond), lost)
}

// mostFailed returns the number of failed requests that are tolerated, or -1 if all are and the pass goes on until its
// server is gone.
func (ps *passage) mostFailed() int {
	if ps.pass.For == 0 || ps.pass.MostFailed < 0 {
		return ps.pass.MostFailed
	}
	return int(ps.pass.MaxFail * float64(ps.flight.Sent()))
}

// beganLate records by how much the pass or a worker began late.
func (ps *passage) beganLate(by time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.late = max(ps.late, by)
}

// errExited is the error of a pass in which a goroutine has exited.
var errExited = errors.New("a request ended its goroutine with runtime.Goexit, as Fatal of package testing does; a Target.Dial must return its error, and the Body of a Dialect its body")

// guard calls f, which builds posts or sends them with a worker. If f calls runtime.Goexit, the pass cannot
// continue, because samples and places are lost. guard then ends the pass with errExited.
func (ps *passage) guard(f func()) {
	returned := false
	defer func() {
		if !returned {
			ps.exited.Store(true)
			ps.giveUp(errExited)
		}
	}()
	f()
	returned = true
}

// work sends posts with w, one after the other, until there are no more, or until its user leaves.
func (lp *loop) work(ctx context.Context, w *Worker, leaves time.Duration) {
	longest := time.Duration(0)
	for p := lp.draw(ctx, leaves); p != nil; p = lp.draw(ctx, leaves) {
		if ctx.Err() != nil && lp.pass.For == 0 {
			lp.skip(ctx, p, lp.clock.Now())
			continue
		}
		took, _ := lp.send(ctx, w, p, schedule{})
		longest = max(longest, took)
	}
	lp.mu.Lock()
	defer lp.mu.Unlock()
	lp.longest = max(lp.longest, longest)
}

// open runs an open loop: it sends each request when it is due. The due instants are absolute, so a late
// request does not make other requests late, unless MaxInFlight holds them back.
func (lp *loop) open(ctx context.Context) {
	due := lp.class.Due
	var wg sync.WaitGroup
	waker := wake.New()
	defer waker.Close()
	// places has an element for each request that may be sent, if MaxInFlight limits the number of requests
	// in flight. The element is the instant since which the place has been free.
	var places chan time.Duration
	if lp.class.MaxInFlight > 0 {
		places = make(chan time.Duration, min(lp.class.MaxInFlight, lp.class.Posts.N))
		for range cap(places) {
			places <- 0
		}
	}
	i := -1 // index of the post
	for p := range lp.posts {
		i++
		waker.Until(lp.sending, lp.clock.Start().Add(due[i]))
		granted := time.Duration(0)
		if places != nil {
			select {
			case granted = <-places:
			case <-lp.sending.Done():
			}
		}
		if lp.enoughSent() {
			break
		}
		if ctx.Err() != nil {
			lp.skip(ctx, p, min(due[i], lp.clock.Now()))
			continue
		}
		at := schedule{set: true, due: due[i], granted: granted}
		w := lp.takeWorker()
		wg.Go(func() {
			lp.guard(func() {
				took, end := lp.send(ctx, w, p, at)
				lp.returnWorker(w, took)
				if places != nil {
					places <- min(end, lp.clock.Now())
				}
			})
		})
	}
	wg.Wait()
	if lp.cut.Load() {
		lp.drain()
	}
}

// takeWorker returns a worker that has no request.
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

// newWorker returns a new worker of the pass. The caller must hold lp.mu.
func (ps *passage) newWorker() *Worker {
	w := NewWorker(ps.client, &ps.pass.Options, ps.clock, &ps.flight)
	w.recorder, w.pass = ps.recorder, ps.number
	ps.workers = append(ps.workers, w)
	return w
}

// returnWorker keeps a worker for later requests. The argument took is the duration of its last post; see
// send.
func (lp *loop) returnWorker(w *Worker, took time.Duration) {
	lp.mu.Lock()
	lp.free = append(lp.free, w)
	lp.longest = max(lp.longest, took)
	lp.mu.Unlock()
}

// skip adds the samples of a post that is not sent because the pass has ended.
func (lp *loop) skip(ctx context.Context, p *Post, at time.Duration) {
	for i := p.Turn; i <= len(p.Turns); i++ {
		s := unsent(&lp.pass.Options, lp.clock, at, context.Cause(ctx))
		s.Request, s.Turn, s.Model, s.Scheduled = p.Request, i, p.Model, lp.class.Due != nil && i == p.Turn
		lp.recorder.add(&s, nil)
	}
}
