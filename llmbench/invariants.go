package llmbench

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A flight counts the requests of a pass that are in flight, independently of the samples.
// The area under their number over time is the sum of the times that they took (Little, "A
// Proof for the Queuing Formula: L = λW", Operations Research 9, 1961; the law is exact if no
// request is in flight at the beginning and at the end). So if the area differs from the sum
// over the samples, a sample is missing or its instants have changed. The instants that a
// flight is given are those of the samples, so that a client that waits for a CPU is no
// contradiction.
type flight struct {
	mu   sync.Mutex
	now  int           // in flight
	most int           // that were in flight at once
	sent int           // in total
	area time.Duration // requests x time
}

// enter notes that a request began. A nil flight ignores requests.
func (f *flight) enter(at time.Duration) { f.change(1, -at) }

// leave notes that a request ended.
func (f *flight) leave(at time.Duration) { f.change(-1, at) }

func (f *flight) change(by int, area time.Duration) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += by
	f.area += area
	f.most = max(f.most, f.now)
	f.sent += max(0, by)
}

// verify checks what must be true of every pass, whatever the server does. An error is a
// fault of the harness, or of a server that states the impossible. At most bound requests may
// have been in flight, unless bound is 0.
func verify(samples []sample.Sample, f *flight, bound int) error {
	var errs []error
	if bound > 0 && f.most > bound {
		errs = append(errs, fmt.Errorf("%d requests were in flight, but at most %d were allowed", f.most, bound))
	}
	if f.now != 0 {
		errs = append(errs, fmt.Errorf("%d requests are in flight after the pass", f.now))
	}
	var sum time.Duration
	n := 0
	for i := range samples {
		s := &samples[i]
		if errors.Is(s.Err, errNotSent) {
			continue
		}
		sum, n = sum+s.End+s.EndLag-s.Admitted, n+1
		if err := s.Check(); err != nil && len(errs) < 3 {
			errs = append(errs, fmt.Errorf("request %d %s: %w", i, s.ID, err))
		}
	}
	if n != f.sent {
		errs = append(errs, fmt.Errorf("%d requests were sent, but %d have a sample", f.sent, n))
	}
	if f.now == 0 && f.area != sum {
		errs = append(errs, fmt.Errorf("little's law: requests were in flight for %v in total, but for %v by their samples", f.area, sum))
	}
	return errors.Join(errs...)
}
