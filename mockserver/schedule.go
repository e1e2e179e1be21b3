package mockserver

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// never is the end of a turn that only its client can end.
const never = time.Duration(math.MaxInt64)

// A scheduler is the plan of a server that does not batch: each sequence has a
// slot to itself and takes as long as if it were alone.
//
// The arithmetic is that of a queue with so many servers. A slot that somebody
// waits for is handed on at its end, which is known beforehand, and not at the
// instant some goroutine runs: that one may come late, and may even find that a
// whole chain of turns has begun and ended meanwhile.
type scheduler struct {
	clock clock
	pace  pace
	slots int

	mu    sync.Mutex
	busy  turnHeap    // the last turn of each slot that was used, the earliest end first
	queue []*turn     // in the order they joined
	wake  *time.Timer // settles when the next slot ends, while there is a queue
}

// A turn is one request's place in the schedule.
type turn struct {
	s       *scheduler
	job     job
	due     []time.Duration // of each token, from admission
	alarm   alarm
	ready   chan struct{} // closed on admission
	waiting bool          // in the queue
	index   int           // in the heap, -1 outside

	// Set on admission; end may be brought forward by leave. Guarded by s.mu,
	// but begun does not change once ready is closed.
	begun, end time.Duration
}

// newScheduler makes a scheduler with so many slots, or with no limit for 0.
func newScheduler(c clock, p pace, slots int) *scheduler {
	if slots == 0 {
		slots = math.MaxInt
	}
	return &scheduler{clock: c, pace: p, slots: slots}
}

// join puts a request in the queue and admits it if there is a slot.
func (s *scheduler) join(j job) (place, error) { return s.enter(j), nil }

func (s *scheduler) enter(j job) *turn {
	t := &turn{
		s: s, job: j, due: s.pace.due(j.ordinal, j.prompt, j.output),
		alarm: alarm{clock: s.clock}, ready: make(chan struct{}), waiting: true, index: -1,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, t)
	s.settle()
	return t
}

// admitted waits for a slot and returns the instant since when t has it.
func (t *turn) admitted(ctx context.Context) (time.Duration, error) {
	select {
	case <-t.ready:
		return t.begun, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// token waits until token k is due. The request must have been admitted. Tokens
// after the last that has a deadline follow at the rate of the others.
func (t *turn) token(ctx context.Context, k int) error {
	last := len(t.due) - 1
	at := t.begun + t.due[min(k, last)]
	if k > last {
		at += time.Duration(k-last) * t.s.pace.further()
	}
	return t.alarm.wait(ctx, at)
}

// timetable returns when each token is due, counted from admission.
func (t *turn) timetable() []time.Duration { return t.due }

// cached returns 0: there is no prefix cache.
func (t *turn) cached() int { return 0 }

// leave gives the slot, or the place in the queue, back at this instant. After
// the end of the turn that does nothing, so it may always be called.
func (t *turn) leave() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	switch {
	case t.waiting:
		t.waiting = false
		i := slices.Index(s.queue, t)
		s.queue = slices.Delete(s.queue, i, i+1)
	case t.index >= 0 && t.end > now:
		t.end = now
		heap.Fix(&s.busy, t.index)
	}
	s.settle()
}

// settle admits from the queue as far as the slots allow by now, and sees to it
// that it runs again when the next one ends. The caller holds the lock.
func (s *scheduler) settle() {
	now := s.clock.now()
	for len(s.queue) > 0 {
		t := s.queue[0]
		begun := t.job.arrived
		full := len(s.busy) == s.slots
		if len(s.busy) > 0 && (s.busy[0].end <= begun || full && s.busy[0].end <= now) {
			begun = max(begun, heap.Pop(&s.busy).(*turn).end)
		} else if full {
			break
		}
		s.queue = slices.Delete(s.queue, 0, 1)
		t.begin(begun)
		heap.Push(&s.busy, t)
	}
	switch {
	case len(s.queue) == 0 || s.busy[0].end == never:
		if s.wake != nil {
			s.wake.Stop()
		}
	case s.wake == nil:
		s.wake = time.AfterFunc(s.busy[0].end-now, s.tick)
	default:
		s.wake.Reset(s.busy[0].end - now)
	}
}

// load tells how many slots are in use and how many requests wait for one.
func (s *scheduler) load() engine.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := engine.Load{Waiting: len(s.queue)}
	for _, t := range s.busy {
		if t.end > s.clock.now() {
			l.Running++
		}
	}
	return l
}

// counts is empty: what an engine counts does not happen here.
func (s *scheduler) counts() engine.Counts { return engine.Counts{} }

// resetPrefixCache does nothing, for the same reason.
func (s *scheduler) resetPrefixCache() {}

func (s *scheduler) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
}

// begin gives t its slot. The caller holds the lock.
func (t *turn) begin(at time.Duration) {
	t.waiting = false
	t.begun, t.end = at, at+t.due[len(t.due)-1]
	if t.job.endless {
		t.end = never
	}
	close(t.ready)
}

// A turnHeap is a container/heap of turns by their end.
type turnHeap []*turn

func (h turnHeap) Len() int           { return len(h) }
func (h turnHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h turnHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *turnHeap) Push(x any) {
	t := x.(*turn)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *turnHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = -1
	return t
}
