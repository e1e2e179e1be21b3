package llmbench

import (
	"sync"
	"time"
)

// A flight counts the requests of a pass, apart from their samples: the area under
// their number in flight over time is the sum of the times they took (Little, "A
// Proof for the Queuing Formula: L = λW", Operations Research 9, 1961; exact of what
// begins and ends empty), if every request has one sample, whose instants are still
// what they were. It is told the request's own instants: a client that waits for a
// CPU is no contradiction.
type flight struct {
	mu   sync.Mutex
	now  int
	most int
	sent int           // all there were
	area time.Duration // requests x time
}

func (f *flight) change(by int, area time.Duration) {
	if f == nil { // a request that is of no pass
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += by
	f.area += area
	f.most = max(f.most, f.now)
	f.sent += max(0, by)
}

func (f *flight) enter(at time.Duration) { f.change(1, -at) }
func (f *flight) leave(at time.Duration) { f.change(-1, at) }
