package pace

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// never is the end of an endless request, which keeps its slot until it leaves.
const never = time.Duration(math.MaxInt64)

// A fixedPlan is the plan of a server that does not batch: each request has its own slot
// and takes as long as if it were alone.
//
// The end of each request is known in advance. A request that waits for a slot begins
// exactly at the end of the slot's previous request. It does not begin later just because a
// goroutine runs late: a goroutine may be so late that several requests would have begun
// and ended in the meantime.
type fixedPlan struct {
	clock Clock
	rate  Rate
	slots int

	mu    sync.Mutex
	busy  placeHeap     // for each slot that has been used, its last place; earliest end first
	queue []*fixedPlace // by priority, and otherwise in the order of arrival
	wake  *time.Timer   // while requests wait, calls admit when the next slot becomes free
}

// A fixedPlace is the place of one request in a fixedPlan.
type fixedPlace struct {
	plan    *fixedPlan
	job     Job
	due     []time.Duration // when each token is due, from admission
	alarm   Alarm
	ready   chan struct{} // closed on admission
	waiting bool          // in the queue
	index   int           // index in the heap, -1 if not in the heap

	// Both are set on admission. Leave may move end to an earlier instant. plan.mu guards
	// both, but reading admitted needs no lock after ready is closed.
	admitted, end time.Duration
}

// NewFixed returns the plan of a server with a fixed rate and the given number of slots;
// 0 means no limit.
func NewFixed(c Clock, r Rate, slots int) Plan { return newFixed(c, r, slots) }

func newFixed(c Clock, r Rate, slots int) *fixedPlan {
	if slots == 0 {
		slots = math.MaxInt
	}
	return &fixedPlan{clock: c, rate: r, slots: slots}
}

func (f *fixedPlan) Join(j Job) (Place, error) { return f.join(j), nil }

// join puts a request in the queue and admits it if a slot is free.
func (f *fixedPlan) join(j Job) *fixedPlace {
	p := &fixedPlace{
		plan: f, job: j, due: f.rate.due(j.Ordinal, j.Prompt, j.Output),
		alarm: Alarm{Clock: f.clock}, ready: make(chan struct{}), waiting: true, index: -1,
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := len(f.queue)
	for at > 0 && f.queue[at-1].job.Priority > j.Priority {
		at--
	}
	f.queue = slices.Insert(f.queue, at, p)
	f.admit()
	return p
}

func (p *fixedPlace) WaitAdmission(ctx context.Context) (time.Duration, error) {
	select {
	case <-p.ready:
		return p.admitted, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *fixedPlace) WaitToken(ctx context.Context, k int) error {
	last := len(p.due) - 1
	at := p.admitted + p.due[min(k, last)]
	if k > last {
		at += time.Duration(k-last) * p.plan.rate.afterLast()
	}
	return p.alarm.Wait(ctx, at)
}

func (p *fixedPlace) Timetable() []time.Duration { return p.due }

func (p *fixedPlace) Step(k int) int { return k + 1 }

func (p *fixedPlace) Drafts() engine.Drafts { return engine.Drafts{} }

func (p *fixedPlace) Cached() int { return 0 }

func (p *fixedPlace) Leave() {
	f := p.plan
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	switch {
	case p.waiting:
		p.waiting = false
		i := slices.Index(f.queue, p)
		f.queue = slices.Delete(f.queue, i, i+1)
	case p.index >= 0 && p.end > now:
		p.end = now
		heap.Fix(&f.busy, p.index)
	}
	f.admit()
}

// admit admits the queued requests for which a slot has become free, and sets the timer to
// the next instant at which a slot becomes free. The caller holds the lock.
func (f *fixedPlan) admit() {
	now := f.clock.Now()
	for len(f.queue) > 0 {
		p := f.queue[0]
		at := p.job.Arrived
		full := len(f.busy) == f.slots
		if len(f.busy) > 0 && (f.busy[0].end <= at || full && f.busy[0].end <= now) {
			at = max(at, heap.Pop(&f.busy).(*fixedPlace).end)
		} else if full {
			break
		}
		f.queue = slices.Delete(f.queue, 0, 1)
		p.begin(at)
		heap.Push(&f.busy, p)
	}
	switch {
	case len(f.queue) == 0 || f.busy[0].end == never:
		if f.wake != nil {
			f.wake.Stop()
		}
	case f.wake == nil:
		f.wake = time.AfterFunc(f.busy[0].end-now, f.tick)
	default:
		f.wake.Reset(f.busy[0].end - now)
	}
}

// begin gives the request a slot at the instant at. The caller holds the lock.
func (p *fixedPlace) begin(at time.Duration) {
	p.waiting = false
	p.admitted, p.end = at, at+p.due[len(p.due)-1]
	if p.job.Endless {
		p.end = never
	}
	close(p.ready)
}

func (f *fixedPlan) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admit()
}

func (f *fixedPlan) Load() engine.Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := engine.Load{Waiting: len(f.queue)}
	for _, p := range f.busy {
		if p.end > f.clock.Now() {
			l.Running++
		}
	}
	return l
}

func (f *fixedPlan) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admit()
	return len(f.queue)
}

func (f *fixedPlan) Counts() engine.Counts { return engine.Counts{} }

func (f *fixedPlan) ResetPrefixCache() {}

// A placeHeap is a container/heap of places, ordered by end.
type placeHeap []*fixedPlace

func (h placeHeap) Len() int           { return len(h) }
func (h placeHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h placeHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *placeHeap) Push(x any) {
	p := x.(*fixedPlace)
	p.index = len(*h)
	*h = append(*h, p)
}

func (h *placeHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	p.index = -1
	return p
}
