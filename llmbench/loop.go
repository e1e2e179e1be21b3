package llmbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A passResult is what one pass yields.
type passResult struct {
	distortion.Pass               // the samples, in the order of the posts, and the state of the client
	clockChange     time.Duration // by how much the wall clock was set; unless 0, no timestamp is used
}

// pass sends every post once, at the times that the load asks for, with control streams
// beside them unless k is nil. It returns when every request and every goroutine of the pass
// has ended; the deadlines of the load bound the time. An error without samples means that
// the pass did not begin. An error with samples means that they contradict each other.
func (c *client) pass(ctx context.Context, l *Load, posts []post, k *control) (passResult, error) {
	var due []time.Duration
	if l.Arrivals != nil {
		var err error
		if due, err = arrivals.Schedule(l.Arrivals, len(posts)); err != nil {
			return passResult{}, err
		}
	}
	if l.PassTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.PassTimeout, errors.New("the pass's deadline passed: "+l.PassTimeout.String()))
		defer cancel()
	}
	ahead := connectionsAhead(l, due, len(posts))
	if err := c.openAhead(ctx, l, ahead); err != nil {
		return passResult{}, err
	}
	defer c.pool.CloseUnused()

	lp := &loop{client: c, load: l, posts: posts, samples: make([]sample.Sample, countSamples(posts))}
	before := strain.Read()
	if k != nil {
		k.begin(ctx, ahead)
	}
	lp.clock = conn.NewClock(c.wall)
	if due != nil {
		lp.open(ctx, due)
	} else {
		lp.closed(ctx)
	}
	r := passResult{Pass: distortion.Pass{Samples: lp.samples, Pauses: lp.pauses}}
	if k != nil {
		r.Errors = k.end()
	}
	r.Strain = strain.Read().Since(before)
	if r.clockChange = lp.clock.WallChange(); r.clockChange != 0 {
		r.Errors = distortion.Errors{} // they come from timestamps, too
		for i := range r.Samples {
			r.Samples[i].ToUserClock()
		}
	}
	countText(r.Samples, l)
	if err := verify(r.Samples, &lp.flight, l.Concurrency+l.MaxInFlight); err != nil {
		return r, fmt.Errorf("the pass contradicts itself: %w", err)
	}
	return r, nil
}

// connectionsAhead returns how many connections to open before a pass of n requests: one for
// each worker of a closed loop. For an open loop with a bound, that is one for each request
// due within the first second, up to the bound.
func connectionsAhead(l *Load, due []time.Duration, n int) int {
	if l.MaxInFlight == 0 {
		return min(l.Concurrency, n)
	}
	soon, _ := slices.BinarySearch(due, time.Second)
	return min(l.MaxInFlight, soon)
}

// openAhead opens connections until n are open. It fails if the process may not open as many.
func (c *client) openAhead(ctx context.Context, l *Load, n int) error {
	if n > 0 {
		c.pool.CloseUnusable()
		if err := conn.CheckLimits(n - c.pool.Open()); err != nil && c.target.Dial == nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	c.pool.Prepare(ctx, n)
	return nil
}

// A loop sends the posts of one pass.
type loop struct {
	client  *client
	load    *Load
	posts   []post
	samples []sample.Sample
	clock   conn.Clock
	flight  flight

	mu     sync.Mutex
	pauses []time.Duration // guarded by mu; see distortion.Pass
	free   []*worker       // guarded by mu; the workers of an open loop without a request
}

// closed keeps load.Concurrency requests in flight.
func (lp *loop) closed(ctx context.Context) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for k := range min(lp.load.Concurrency, len(lp.posts)) {
		wg.Go(func() {
			w := newWorker(lp.client, lp.load, lp.clock, &lp.flight)
			begin := time.Duration(k) * max(0, lp.load.Stagger)
			sleep(ctx, max(0, begin-lp.clock.Now())) // if ctx ends, no request is sent below
			lp.work(ctx, w, &next)
		})
	}
	wg.Wait()
}

// work sends posts with w, one after the other, until none are left. All workers share the
// index of the next post.
func (lp *loop) work(ctx context.Context, w *worker, next *atomic.Int64) {
	var pauses []time.Duration
	ended := time.Duration(-1) // end of the worker's last request
	for {
		i := int(next.Add(1)) - 1
		if i >= len(lp.posts) {
			break
		}
		p := &lp.posts[i]
		if ctx.Err() != nil {
			skipTurns(ctx, p, lp.load, lp.clock, lp.clock.Now(), lp.samples)
			continue
		}
		w.sendTurns(ctx, p, 0, false, lp.samples)
		if ended >= 0 {
			pauses = append(pauses, max(0, lp.samples[p.first].Start-ended))
		}
		ended = lp.samples[p.first+p.samples()-1].End
	}
	lp.mu.Lock()
	defer lp.mu.Unlock()
	lp.pauses = append(lp.pauses, pauses...)
}

// open sends each request when it is due. The instants are absolute: a late request makes no
// other request late, unless it is one of MaxInFlight.
func (lp *loop) open(ctx context.Context, due []time.Duration) {
	var wg sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	// The places of the requests in flight, if they are bounded. A value is the instant
	// since which the place is free.
	var places chan time.Duration
	if lp.load.MaxInFlight > 0 {
		places = make(chan time.Duration, min(lp.load.MaxInFlight, len(lp.posts)))
		for range cap(places) {
			places <- 0
		}
	}
	for i := range lp.posts {
		if wait := due[i] - lp.clock.Now(); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		granted := time.Duration(0)
		if places != nil {
			select {
			case granted = <-places:
			case <-ctx.Done():
			}
		}
		p := &lp.posts[i]
		if ctx.Err() != nil {
			skipTurns(ctx, p, lp.load, lp.clock, min(due[i], lp.clock.Now()), lp.samples)
			continue
		}
		w := lp.takeWorker()
		wg.Go(func() {
			w.sendTurns(ctx, p, due[i], true, lp.samples)
			lp.returnWorker(w)
			if granted > due[i] {
				lp.samples[p.first].Granted = granted
			}
			if places != nil {
				places <- lp.clock.Now()
			}
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
	return newWorker(lp.client, lp.load, lp.clock, &lp.flight)
}

// returnWorker keeps a worker for later requests.
func (lp *loop) returnWorker(w *worker) {
	lp.mu.Lock()
	lp.free = append(lp.free, w)
	lp.mu.Unlock()
}

// countText counts the tokens of answers whose servers did not state usage, by their text.
// The text stays in the samples only if the load keeps text.
func countText(samples []sample.Sample, l *Load) {
	for i := range samples {
		s := &samples[i]
		if s.TokenSource != sample.FromTokenizer {
			continue
		}
		s.OutputTokens = l.Tokenizer.Count(s.Answer.Reasoning + s.Answer.Text + s.Answer.ToolCalls)
		if !l.KeepText {
			s.Answer = nil
		}
	}
}
