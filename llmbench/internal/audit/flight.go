package audit

import (
	"sync"
	"time"
)

// A Flight counts the requests of a pass that are in flight, independently of the samples. It checks the
// samples by Little's law: the area under the number of requests in flight over time is the sum of the
// times that the requests took (Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9,
// 1961; the law is exact if no request is in flight at the beginning and at the end). If the area differs
// from the sum over the samples, a sample is missing, or its instants have changed. The instants that a
// Flight receives are the same as in the samples. Otherwise a client that waits for a CPU would cause a
// contradiction.
//
// The zero value has no requests. A Flight is safe for concurrent use, but Audit.Check must be called after
// the last request.
type Flight struct {
	mu   sync.Mutex
	now  int           // number of requests in flight
	most int           // largest number of requests in flight at once
	sent int           // total number of requests
	area time.Duration // requests x time
}

// Enter records that a request began. A nil Flight ignores requests.
func (f *Flight) Enter(at time.Duration) { f.change(1, -at) }

// Leave records that a request ended. It returns the number of requests that were in flight just before,
// including this one. A nil Flight returns 0.
func (f *Flight) Leave(at time.Duration) int { return f.change(-1, at) }

// Now returns the number of requests in flight.
func (f *Flight) Now() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Sent returns the number of requests that were sent so far.
func (f *Flight) Sent() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

// change adds to the number of requests in flight and to the area. It returns the number of requests that
// were in flight before.
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
