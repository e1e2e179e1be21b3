package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"

	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// pass sends every post once, as the load says when, and returns the samples in
// the order of the posts. It returns when the last of them has ended, which the
// deadlines see to, and every goroutine it started has too.
func (c *client) pass(ctx context.Context, l *Load, posts []post) ([]sample.Sample, error) {
	var due []time.Duration
	if l.Arrivals != nil {
		var err error
		if due, err = arrivals.Schedule(l.Arrivals, len(posts)); err != nil {
			return nil, err
		}
	}
	if l.PassTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.PassTimeout, errors.New("the pass's deadline passed: "+l.PassTimeout.String()))
		defer cancel()
	}
	ahead := l.ahead(due, len(posts))
	if ahead > 0 {
		c.pool.CloseUnusable()
		if err := conn.CheckLimits(ahead - c.pool.Open()); err != nil && c.target.Dial == nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	opening, cancel := context.WithTimeout(ctx, l.Timeout)
	c.pool.Prepare(opening, ahead)
	cancel()
	defer c.pool.CloseUnused()
	samples := make([]sample.Sample, samplesOf(posts))
	c.idles.all = nil
	before := strain.Read()
	if c.control != nil {
		c.control.begin(ctx, ahead)
	}
	start := conn.NewClock(c.wall)
	c.flight = &flight{}
	if due != nil {
		c.openLoop(ctx, l, posts, start, due, samples)
	} else {
		c.closedLoop(ctx, l, posts, start, samples)
	}
	if c.control != nil {
		c.errors = c.control.end()
	}
	c.strain = strain.Read().Since(before)
	if c.clockSet = start.WallChange(); c.clockSet != 0 {
		c.errors = distortion.Errors{} // which come from timestamps, too
		for i := range samples {
			samples[i].ToUserClock()
		}
	}
	countText(samples, l)
	if err := verify(samples, c.flight, l.Concurrency+l.MaxInFlight); err != nil {
		return samples, fmt.Errorf("the pass contradicts itself: %w", err)
	}
	return samples, nil
}

// ahead is how many connections to open before a pass of n requests, which are due
// then: those of all workers or, where a bound on the requests in flight tells that
// it is not more, those that are due within a moment.
func (l *Load) ahead(due []time.Duration, n int) int {
	if l.MaxInFlight == 0 {
		return min(l.Concurrency, n)
	}
	soon, _ := slices.BinarySearch(due, time.Second)
	return min(l.MaxInFlight, soon)
}

// closedLoop keeps l.Concurrency requests in flight.
func (c *client) closedLoop(ctx context.Context, l *Load, posts []post, start conn.Clock, samples []sample.Sample) {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	for k := range min(l.Concurrency, len(posts)) {
		wg.Go(func() {
			w := newWorker(c, l, start)
			var between []time.Duration
			defer func() { c.idles.add(between) }()
			ended := time.Duration(-1)                                         // the last request
			sleep(ctx, max(0, time.Duration(k)*max(0, l.Stagger)-start.Now())) // if it is cut short, so are the requests
			for {
				i := int(next.Add(1)) - 1
				if i >= len(posts) {
					return
				}
				p := &posts[i]
				if ctx.Err() != nil {
					p.notSent(ctx, l, start.Now(), samples)
					continue
				}
				w.turns(ctx, p, 0, false, samples)
				if ended >= 0 {
					between = append(between, max(0, samples[p.at].Start-ended))
				}
				ended = samples[p.at+p.samples()-1].End
			}
		})
	}
	wg.Wait()
}

// openLoop sends each request when it is due, on absolute deadlines: that one
// was late makes none of the others late, unless they wait for admission.
func (c *client) openLoop(ctx context.Context, l *Load, posts []post, start conn.Clock, due []time.Duration, samples []sample.Sample) {
	var (
		wg    sync.WaitGroup
		free  workers
		timer = time.NewTimer(0)
		slots chan time.Duration // of requests in flight, if they are bounded: since when each is free
	)
	defer timer.Stop()
	if l.MaxInFlight > 0 {
		slots = make(chan time.Duration, min(l.MaxInFlight, len(posts)))
		for range cap(slots) {
			slots <- 0
		}
	}
	for i := range posts {
		if wait := due[i] - start.Now(); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		granted := time.Duration(0)
		if slots != nil {
			select {
			case granted = <-slots:
			case <-ctx.Done():
			}
		}
		p := &posts[i]
		if ctx.Err() != nil {
			p.notSent(ctx, l, min(due[i], start.Now()), samples)
			continue
		}
		w := free.get(func() *worker { return newWorker(c, l, start) })
		wg.Go(func() {
			w.turns(ctx, p, due[i], true, samples)
			free.put(w)
			if granted > due[i] {
				samples[p.at].Granted = granted
			}
			if slots != nil {
				slots <- start.Now()
			}
		})
	}
	wg.Wait()
}

// idles are the times between a request's end and its worker's next send.
type idles struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *idles) add(some []time.Duration) {
	d.mu.Lock()
	d.all = append(d.all, some...)
	d.mu.Unlock()
}

// workers is a stack of those at rest.
type workers struct {
	mu   sync.Mutex
	rest []*worker
}

func (s *workers) get(make func() *worker) *worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.rest); n > 0 {
		w := s.rest[n-1]
		s.rest = s.rest[:n-1]
		return w
	}
	return make()
}

func (s *workers) put(w *worker) {
	s.mu.Lock()
	s.rest = append(s.rest, w)
	s.mu.Unlock()
}

// countText counts the tokens of answers whose servers did not state usage, by
// their text. The text stays in the samples only if the load keeps text.
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
