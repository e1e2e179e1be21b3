package pace

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// An enginePlan is the plan of a server that batches. It runs an engine on the
// clock, at real time or at a multiple of it.
//
// One timer serves all requests. It is set to the absolute instant at which the
// engine's current step ends. When it fires, the engine advances through all steps that
// have ended by then. So delays of the timer do not add up.
type enginePlan struct {
	clock     Clock
	speed     float64
	afterLast time.Duration // time between the further tokens of an endless output

	mu     sync.Mutex
	engine *engine.Engine
	timer  *time.Timer // nil until it is first needed
}

// An enginePlace is the place of one request in an enginePlan.
type enginePlace struct {
	plan     *enginePlan
	seq      *engine.Sequence
	due      []time.Duration // when each computed token is due, from admission
	ready    chan struct{}   // closed on admission
	admitted time.Duration   // set before ready is closed
	computed atomic.Int64    // number of tokens that the engine has computed
	awaited  atomic.Int64    // index of the token that the handler waits for
	wake     chan struct{}   // receives a value when the awaited token has been computed
	alarm    Alarm
}

// NewEngine returns the plan of a server with an engine. The profile must be valid. speed,
// above 0, is the factor by which the engine runs faster than real time.
func NewEngine(c Clock, p engine.Profile, speed float64) Plan {
	d := &enginePlan{clock: c, speed: speed}
	d.afterLast = Rate{PerToken: microseconds(p.Step + p.StepPerSeq), Speed: speed}.afterLast()
	e, err := engine.New(p, engine.Watcher{Admitted: d.onAdmission, Token: d.onToken})
	if err != nil {
		panic(err) // the profile is not valid
	}
	d.engine = e
	return d
}

// microseconds converts a profile's time, which is in microseconds.
func microseconds(micros float64) time.Duration {
	return time.Duration(micros * float64(time.Microsecond))
}

// realTime converts an instant of the engine to an instant of the clock, rounded up.
func (d *enginePlan) realTime(at time.Duration) time.Duration {
	if d.speed == 1 {
		return at
	}
	return time.Duration(math.Ceil(min(float64(at)/d.speed, float64(horizon))))
}

// advance runs the engine up to now. The caller holds the lock.
func (d *enginePlan) advance() {
	now := d.clock.Now()
	for at, ok := d.engine.Next(); ok && d.realTime(at) <= now; at, ok = d.engine.Next() {
		d.engine.Advance(at)
	}
	if d.speed == 1 {
		d.engine.Advance(now)
	} else {
		d.engine.Advance(time.Duration(min(float64(now)*d.speed, float64(horizon))))
	}
}

// arm sets the timer to the end of the engine's current step. The caller holds the
// lock.
func (d *enginePlan) arm() {
	at, ok := d.engine.Next()
	switch {
	case !ok:
		if d.timer != nil {
			d.timer.Stop()
		}
	case d.timer == nil:
		d.timer = time.AfterFunc(d.realTime(at)-d.clock.Now(), d.tick)
	default:
		d.timer.Reset(d.realTime(at) - d.clock.Now())
	}
}

func (d *enginePlan) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	d.arm()
}

func (d *enginePlan) Join(j Job) (Place, error) {
	r := &enginePlace{
		plan: d, due: make([]time.Duration, j.Output), ready: make(chan struct{}), wake: make(chan struct{}, 1),
		alarm: Alarm{Clock: d.clock},
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	seq, err := d.engine.Submit(d.engine.Now(), engine.Job{
		Prompt: j.Prompt, Output: j.Output, Prefix: j.Prefix, Priority: j.Priority, Hold: j.Endless, Ref: r,
	})
	if err != nil {
		return nil, err
	}
	r.seq = seq
	d.arm()
	return r, nil
}

// onAdmission and onToken are called by the engine, under the lock.
func (d *enginePlan) onAdmission(s *engine.Sequence, at time.Duration) {
	r := s.Job.Ref.(*enginePlace)
	r.admitted = d.realTime(at)
	close(r.ready)
}

func (d *enginePlan) onToken(s *engine.Sequence, at time.Duration) {
	r := s.Job.Ref.(*enginePlace)
	n := r.computed.Load()
	r.due[n] = d.realTime(at) - r.admitted
	r.computed.Store(n + 1)
	if n == r.awaited.Load() {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (d *enginePlan) Load() engine.Load {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	return d.engine.Load()
}

func (d *enginePlan) Waiting() int { return d.Load().Waiting }

func (d *enginePlan) Counts() engine.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance()
	return d.engine.Counts()
}

func (d *enginePlan) ResetPrefixCache() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advance() // frees the blocks of requests that have ended by now
	d.engine.ResetPrefixCache()
}

func (r *enginePlace) WaitAdmission(ctx context.Context) (time.Duration, error) {
	select {
	case <-r.ready:
		return r.admitted, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (r *enginePlace) WaitToken(ctx context.Context, k int) error {
	last := len(r.due) - 1
	r.awaited.Store(int64(min(k, last)))
	for r.computed.Load() <= int64(min(k, last)) {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if k > last {
		return r.alarm.Wait(ctx, r.admitted+r.due[last]+time.Duration(k-last)*r.plan.afterLast)
	}
	return ctx.Err()
}

func (r *enginePlace) Timetable() []time.Duration { return r.due }

// Step counts the tokens that are due at the same instant as token k: all tokens of a step are due at
// the step's end. It holds the lock, so that it never sees a part of a step.
func (r *enginePlace) Step(k int) int {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	n, computed := k+1, int(r.computed.Load())
	for n < computed && r.due[n] == r.due[k] {
		n++
	}
	return n
}

func (r *enginePlace) Drafts() engine.Drafts {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	return r.seq.Drafts
}

func (r *enginePlace) Cached() int {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	return r.seq.Cached
}

func (r *enginePlace) Leave() {
	d := r.plan
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.seq.State >= engine.Finished {
		return
	}
	d.advance()
	d.engine.Cancel(d.engine.Now(), r.seq)
	d.arm()
}
