package audit

import (
	"sync"
	"time"
)

// A Flight counts the requests of a pass that are in flight, independently of the samples.
// The area under their number over time is the sum of the times that they took (Little, "A
// Proof for the Queuing Formula: L = λW", Operations Research 9, 1961; the law is exact if no
// request is in flight at the beginning and at the end). So if the area differs from the sum
// over the samples, a sample is missing or its instants have changed. The instants that a
// Flight is given come from the samples, so that a client that waits for a CPU is no
// contradiction.
//
// The zero value has no requests. A Flight is safe for concurrent use, but Check must come after
// the last request.
type Flight struct {
	mu   sync.Mutex
	now  int           // in flight
	most int           // that were in flight at once
	sent int           // in total
	area time.Duration // requests x time
}

// Enter notes that a request began. A nil Flight ignores requests.
func (f *Flight) Enter(at time.Duration) { f.change(1, -at) }

// Leave notes that a request ended, and returns how many were in flight just before, itself
// included; 0 for a nil Flight.
func (f *Flight) Leave(at time.Duration) int { return f.change(-1, at) }

// change returns how many requests were in flight before the change.
func (f *Flight) change(by int, area time.Duration) (before int) {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += by
	f.area += area
	f.most = max(f.most, f.now)
	f.sent += max(0, by)
	return f.now - by
}
