package mockserver

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A driver is the plan of a server that batches: it lets an engine run on the
// clock, or so many times faster.
//
// One timer serves all streams. It is set to the absolute instant at which the
// step ends that the engine computes, so that being late does not add up, and the
// engine is advanced through all that is over by then.
type driver struct {
	clock clock
	speed float64
	rest  time.Duration // between tokens past the last that the engine knows

	mu     sync.Mutex
	engine *engine.Engine
	timer  *time.Timer // nil until it is first needed
}

// A ride is one request's place in the engine.
type ride struct {
	d     *driver
	seq   *engine.Sequence
	due   []time.Duration // of the tokens that are out, from admission
	ready chan struct{}   // closed on admission
	begun time.Duration   // then
	out   atomic.Int64    // tokens
	want  atomic.Int64    // the token that the handler waits for
	wake  chan struct{}   // it is out
	alarm alarm
}

// newDriver makes the plan of a profile, which is valid.
func newDriver(c clock, p engine.Profile, speed float64) *driver {
	d := &driver{clock: c, speed: speed}
	d.rest = pace{perToken: after(p.Step + p.StepPerSeq), speed: speed}.further()
	e, err := engine.New(p, engine.Watcher{Admitted: d.admitted, Token: d.token})
	if err != nil {
		panic(err) // Config.Validate has seen it
	}
	d.engine = e
	return d
}

// after is a time in microseconds.
func after(micros float64) time.Duration { return time.Duration(micros * float64(time.Microsecond)) }

// real is the clock's instant for one of the engine's: not before it.
func (d *driver) real(at time.Duration) time.Duration {
	if d.speed == 1 {
		return at
	}
	return time.Duration(math.Ceil(min(float64(at)/d.speed, float64(horizon))))
}

// advance lets the engine come up to now. The caller holds the lock.
func (d *driver) advance() {
	now := d.clock.now()
	for at, ok := d.engine.Next(); ok && d.real(at) <= now; at, ok = d.engine.Next() {
		d.engine.Advance(at)
	}
	if d.speed == 1 {
		d.engine.Advance(now)
	} else {
		d.engine.Advance(time.Duration(min(float64(now)*d.speed, float64(horizon))))
	}
}

// arm sets the timer to the end of what the engine computes. The caller holds the
// lock.
func (d *driver) arm() {
	at, ok := d.engine.Next()
	switch {
	case !ok:
		if d.timer != nil {
			d.timer.Stop()
		}
	case d.timer == nil:
		d.timer = time.AfterFunc(d.real(at)-d.clock.now(), d.tick)
	default:
		d.timer.Reset(d.real(at) - d.clock.now())
	}
}

func (d *driver) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	d.arm()
}

func (d *driver) join(j job) (place, error) {
	r := &ride{
		d: d, due: make([]time.Duration, j.output), ready: make(chan struct{}), wake: make(chan struct{}, 1),
		alarm: alarm{clock: d.clock},
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	seq, err := d.engine.Submit(d.engine.Now(), engine.Job{
		Prompt: j.prompt, Output: j.output, Prefix: j.prefix, Hold: j.endless, Ref: r,
	})
	if err != nil {
		return nil, err
	}
	r.seq = seq
	d.arm()
	return r, nil
}

// admitted and token are the engine's watchers: they run under the lock.
func (d *driver) admitted(s *engine.Sequence, at time.Duration) {
	r := s.Job.Ref.(*ride)
	r.begun = d.real(at)
	close(r.ready)
}

func (d *driver) token(s *engine.Sequence, at time.Duration) {
	r := s.Job.Ref.(*ride)
	n := r.out.Load()
	r.due[n] = d.real(at) - r.begun
	r.out.Store(n + 1)
	if n == r.want.Load() {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (d *driver) load() engine.Load {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	return d.engine.Load()
}

func (d *driver) counts() engine.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	return d.engine.Counts()
}

func (d *driver) resetPrefixCache() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance() // what has ended by now uses no block any more
	d.engine.ResetPrefixCache()
}

func (r *ride) admitted(ctx context.Context) (time.Duration, error) {
	select {
	case <-r.ready:
		return r.begun, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (r *ride) token(ctx context.Context, k int) error {
	last := len(r.due) - 1
	r.want.Store(int64(min(k, last)))
	for r.out.Load() <= int64(min(k, last)) {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if k > last {
		return r.alarm.wait(ctx, r.begun+r.due[last]+time.Duration(k-last)*r.d.rest)
	}
	return ctx.Err()
}

func (r *ride) timetable() []time.Duration { return r.due }

func (r *ride) cached() int {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	return r.seq.Cached
}

func (r *ride) leave() {
	d := r.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.seq.State >= engine.Finished {
		return
	}
	d.advance()
	d.engine.Cancel(d.engine.Now(), r.seq)
	d.arm()
}
