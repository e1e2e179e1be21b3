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

// never is the end of a place that only its request ends.
const never = time.Duration(math.MaxInt64)

// A fixedPlan is the plan of a server that does not batch: each request has a slot
// of its own and takes as long as if it were alone.
//
// If a request waits for a slot, the slot passes to it at the end of the request
// before, which is known in advance, and not when some goroutine notices. A goroutine
// may be so late that several requests have begun and ended meanwhile.
type fixedPlan struct {
	clock Clock
	rate  Rate
	slots int

	mu    sync.Mutex
	busy  placeHeap     // the last place of each slot that was used, earliest end first
	queue []*fixedPlace // in the order of arrival
	wake  *time.Timer   // calls admit at the next end of a slot, while requests wait
}

// A fixedPlace is the place of one request.
type fixedPlace struct {
	plan    *fixedPlan
	job     Job
	due     []time.Duration // of each token, from admission
	alarm   Alarm
	ready   chan struct{} // closed on admission
	waiting bool          // in the queue
	index   int           // in the heap, -1 outside

	// Both are set on admission. Leave may bring end forward. plan.mu guards them,
	// but admitted does not change once ready is closed.
	admitted, end time.Duration
}

// NewFixed returns the plan of a server with a fixed rate and that many slots; 0
// means no limit.
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
	f.queue = append(f.queue, p)
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

// admit admits the requests in the queue for which there is a slot by now, and sets
// the timer to the next end of a slot. The caller holds the lock.
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

// begin gives the request its slot. The caller holds the lock.
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

func (f *fixedPlan) Counts() engine.Counts { return engine.Counts{} }

func (f *fixedPlan) ResetPrefixCache() {}

// A placeHeap is a container/heap of places by their end.
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
