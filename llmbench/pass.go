package llmbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errNotSent is why a request of a pass that was given up has no answer.
var errNotSent = errors.New("not sent")

// pass sends every post once, as the load says when, and returns the samples in
// the order of the posts. It returns when the last of them has ended, which the
// deadlines see to, and every goroutine it started has too.
func (c *client) pass(ctx context.Context, l *Load, posts []post) ([]Sample, error) {
	var due []time.Duration
	if l.Arrivals != nil {
		var err error
		if due, err = l.Arrivals.Times(len(posts)); err == nil {
			err = checkTimes(due, len(posts))
		}
		if err != nil {
			return nil, err
		}
	}
	if l.PassTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.PassTimeout, errors.New("the pass's deadline passed: "+l.PassTimeout.String()))
		defer cancel()
	}
	opening, cancel := context.WithTimeout(ctx, l.Timeout)
	c.dialer.prepare(opening, min(l.Concurrency, len(posts)))
	cancel()
	defer c.dialer.drop()
	samples := make([]Sample, len(posts))
	if due != nil {
		c.openLoop(ctx, l, posts, due, samples)
	} else {
		c.closedLoop(ctx, l, posts, samples)
	}
	countText(samples, l.Tokenizer)
	return samples, nil
}

// checkTimes says whether due can be the schedule of n requests.
func checkTimes(due []time.Duration, n int) error {
	switch {
	case len(due) != n:
		return fmt.Errorf("arrivals: %d times for %d requests", len(due), n)
	case !slices.IsSorted(due) || due[0] < 0:
		return errors.New("arrivals: times must be in order, from 0 on")
	}
	return nil
}

// closedLoop keeps l.Concurrency requests in flight.
func (c *client) closedLoop(ctx context.Context, l *Load, posts []post, samples []Sample) {
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		start = clock(time.Now())
	)
	for range min(l.Concurrency, len(posts)) {
		wg.Go(func() {
			w := newWorker(c, l, start)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(posts) {
					return
				}
				if ctx.Err() != nil {
					samples[i] = notSent(ctx, l, start.now())
					continue
				}
				samples[i] = w.do(ctx, posts[i], 0, false)
				c.ended.Add(1)
			}
		})
	}
	wg.Wait()
}

// openLoop sends each request when it is due, on absolute deadlines: that one
// was late makes none of the others late.
func (c *client) openLoop(ctx context.Context, l *Load, posts []post, due []time.Duration, samples []Sample) {
	var (
		wg    sync.WaitGroup
		free  workers
		timer = time.NewTimer(0)
		start = clock(time.Now())
	)
	defer timer.Stop()
	for i := range posts {
		if wait := due[i] - start.now(); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			samples[i] = notSent(ctx, l, min(due[i], start.now()))
			continue
		}
		w := free.get(func() *worker { return newWorker(c, l, start) })
		wg.Go(func() {
			samples[i] = w.do(ctx, posts[i], due[i], true)
			c.ended.Add(1)
			free.put(w)
		})
	}
	wg.Wait()
}

// notSent is the sample of a request that the end of the pass overtook.
func notSent(ctx context.Context, l *Load, at time.Duration) Sample {
	return Sample{
		Due: at, Start: at, End: at,
		Scheduled: l.Arrivals != nil,
		Streamed:  !l.NoStream,
		Outcome:   Canceled,
		Err:       errors.Join(errNotSent, context.Cause(ctx)),
	}
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

// countText counts the tokens of answers whose servers did not.
func countText(samples []Sample, t Tokenizer) {
	for i := range samples {
		if s := &samples[i]; s.text != "" {
			s.OutputTokens, s.text = t.Count(s.text), ""
		}
	}
}

// elapsed is the time of a pass: from the first t0 to the end of the last
// response.
func elapsed(samples []Sample) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	first, last := samples[0].Due, samples[0].End
	for i := range samples {
		first = min(first, samples[i].Due)
		last = max(last, samples[i].End)
	}
	return last - first
}
