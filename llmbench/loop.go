package llmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/audit"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/wake"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A passResult is what one pass yields.
type passResult struct {
	distortion.Pass                       // the samples, in the order in which requests ended, and the state of the client
	clockChange     time.Duration         // by how much the wall clock was set during the pass
	recorderWait    time.Duration         // sum of the times that requests waited for the recorder
	late            time.Duration         // by how much the pass, or a worker of a closed loop, began late
	silences        map[int]time.Duration // how long nothing was heard of a shard, if that was long
}

// pass sends every request of pl once, at the times that the load asks for. With k, control
// streams run beside them where the kernel gives no timestamps. The samples go to o. It returns
// when every request and every goroutine of the pass has ended; the deadlines of the load bound
// the time, unless the tokenizer hangs. An error without samples means that the pass
// did not begin. An error with samples means that they contradict each other, or that not all of
// them could be kept.
func (c *client) pass(ctx context.Context, l *Load, pl *plan, k *control, o outlet) (passResult, error) {
	var due []time.Duration
	if l.Arrivals != nil {
		var err error
		if due, err = arrivals.Schedule(l.Arrivals, pl.requests); err != nil {
			return passResult{}, err
		}
	}
	l = pl.ownLoad(l)
	outer := ctx
	if l.PassTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.PassTimeout, errors.New("the pass's deadline passed: "+l.PassTimeout.String()))
		defer cancel()
	}
	ahead := connectionsAhead(l, pl.ownDue(due), pl.count(), c.longest)
	if err := c.openAhead(ctx, l, ahead); err != nil {
		return passResult{}, err
	}
	defer c.pool.CloseUnused()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)

	lp := &loop{client: c, number: c.passes.Add(1), load: l, part: pl.part, requests: pl.count(), giveUp: giveUp}
	lp.posts = pl.feed(ctx, lp.guard)
	begin := o.samples.End()
	if c.pool.Stamped(ctx) {
		k = nil
	}
	if k != nil {
		k.open(ctx, ahead)
	}
	start, err := o.crew.start()
	if err != nil {
		giveUp(err)
		for range lp.posts { // all must be received
		}
		return passResult{}, err
	}
	if k != nil {
		k.begin(ctx, ahead, start)
	}
	before := strain.Read()
	lp.clock = conn.NewClockAt(start, c.wall)
	lp.beganLate(lp.clock.Now())
	lp.recorder = newRecorder(o, l, lp.clock, c.secrets, giveUp)
	others := o.crew.collect(func(s *sample.Sample) {
		c.ended.Add(1)
		lp.recorder.take(s)
	})
	if due != nil {
		lp.open(ctx, due)
	} else {
		lp.closed(ctx)
	}
	r := passResult{Pass: distortion.Pass{Workers: l.Concurrency, Stagger: time.Duration(pl.part.Stride()) * l.Stagger}}
	if k != nil {
		r.Errors = k.end()
	}
	r.Strain = strain.Read().Since(before)
	r.clockChange = lp.clock.WallChange()
	r.ClockSet = r.clockChange != 0
	r.late = lp.late
	lost := others()
	r.silences = o.crew.silences()
	err = lp.recorder.close()
	r.recorderWait, r.LateTurns = time.Duration(lp.recorder.waited.Load()), lp.recorder.late
	r.Samples = o.samples.Between(begin, o.samples.End())
	c.longest = max(c.longest, lp.longest)
	if err == nil {
		err = lp.check()
	}
	return r, o.crew.ended(o.crew.why(outer, cmp.Or(lost, err)))
}

// check returns why a pass whose samples are all kept is none, or nil.
func (lp *loop) check() error {
	if lp.exited.Load() {
		return errExited
	}
	if err := lp.recorder.audit.Check(&lp.flight, lp.load.Concurrency+lp.load.MaxInFlight); err != nil {
		return fmt.Errorf("the pass contradicts itself: %w", err)
	}
	if n := lp.client.pool.Strays(min(lp.longest, strayTime)); n > 0 {
		return fmt.Errorf("the server sent answers that no request asked for, on %d connections: answers may have been taken for those to later requests", n)
	}
	return nil
}

const (
	// strayTime is how long answers that nobody asked for are awaited at most after a pass.
	strayTime = 50 * time.Millisecond
	// assumedLongest is how long requests are assumed to take before any has ended.
	assumedLongest = time.Second
	// maxAhead is how many connections are opened ahead at most for an open loop without
	// MaxInFlight, whose need is only an estimate.
	maxAhead = 1024
)

// connectionsAhead returns how many connections to open before a pass of n requests:
//
//   - for a closed loop, one for each worker
//   - for an open loop with MaxInFlight, as many as that
//   - for other open loops, as many as the schedule has requests in flight at once if each takes
//     twice the longest time that a request took before, in the warm-up or in earlier passes;
//     at most maxAhead
func connectionsAhead(l *Load, due []time.Duration, n int, longest time.Duration) int {
	switch {
	case due == nil:
		return min(l.Concurrency, n)
	case l.MaxInFlight > 0:
		return min(l.MaxInFlight, n)
	case longest == 0:
		longest = assumedLongest
	}
	return min(maxAhead, mostDue(due, 2*longest))
}

// mostDue returns the largest number of instants of due within any time of that length. The
// instants must be in order.
func mostDue(due []time.Duration, length time.Duration) (most int) {
	first := 0
	for i, at := range due {
		for at-due[first] > length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// openAhead opens connections until n are open. If the process may not open as many, it fails,
// or opens fewer if n is an estimate.
func (c *client) openAhead(ctx context.Context, l *Load, n int) error {
	if n > 0 {
		c.pool.CloseUnusable()
		for err := c.checkLimits(n); err != nil; err = c.checkLimits(n) {
			if l.Concurrency > 0 || l.MaxInFlight > 0 {
				return fmt.Errorf("load: %w", err)
			}
			n /= 2
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	c.pool.Prepare(ctx, n)
	return nil
}

// checkLimits returns an error if the process may not have n connections open.
func (c *client) checkLimits(n int) error {
	if c.target.Dial != nil || n <= c.pool.Open() {
		return nil
	}
	return conn.CheckLimits(n - c.pool.Open())
}

// A loop sends the posts of one pass.
type loop struct {
	client   *client
	number   int64 // of the pass among those of the client, from 1
	load     *Load
	part     shard.Part // of this process
	requests int        // of the part
	posts    <-chan *post
	clock    conn.Clock
	flight   audit.Flight
	recorder *recorder
	giveUp   context.CancelCauseFunc // ends the pass
	exited   atomic.Bool             // see guard

	mu      sync.Mutex
	longest time.Duration // guarded by mu; of the posts whose requests all succeeded
	late    time.Duration // guarded by mu; see passResult
	free    []*worker     // guarded by mu; the workers of an open loop without a request
}

// closed keeps load.Concurrency requests in flight.
func (lp *loop) closed(ctx context.Context) {
	var wg sync.WaitGroup
	for k := range min(lp.load.Concurrency, lp.requests) {
		wg.Go(func() {
			w := lp.newWorker()
			begin := time.Duration(lp.part.Worker(k)) * max(0, lp.load.Stagger)
			sleep(ctx, max(0, begin-lp.clock.Now())) // if ctx ends, no request is sent below
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
func (lp *loop) work(ctx context.Context, w *worker) {
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
func (lp *loop) open(ctx context.Context, due []time.Duration) {
	var wg sync.WaitGroup
	waker := wake.New()
	defer waker.Close()
	// The places of the requests in flight, if they are bounded. A value is the instant
	// since which the place is free.
	var places chan time.Duration
	if lp.load.MaxInFlight > 0 {
		places = make(chan time.Duration, min(lp.load.MaxInFlight, lp.requests))
		for range cap(places) {
			places <- 0
		}
	}
	for p := range lp.posts {
		i := p.request
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
func (lp *loop) takeWorker() *worker {
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
func (lp *loop) newWorker() *worker {
	w := newWorker(lp.client, lp.load, lp.clock, &lp.flight)
	w.recorder, w.pass = lp.recorder, lp.number
	return w
}

// returnWorker keeps a worker for later requests. It has sent a post that took so long; see sendTurns.
func (lp *loop) returnWorker(w *worker, took time.Duration) {
	lp.mu.Lock()
	lp.free = append(lp.free, w)
	lp.longest = max(lp.longest, took)
	lp.mu.Unlock()
}
