package llmbench

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// verify checks what must hold of every pass, whatever the server does. An error
// is a fault of the harness, or of a server that says what cannot be.
// At most bound requests were to be in flight, if it is not 0.
func verify(samples []sample.Sample, f *flight, bound int) error {
	var errs []error
	if bound > 0 && f.most > bound {
		errs = append(errs, fmt.Errorf("%d requests were in flight, and at most %d were to be", f.most, bound))
	}
	if f.now != 0 {
		errs = append(errs, fmt.Errorf("%d requests are in flight, and the pass is over", f.now))
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
		errs = append(errs, fmt.Errorf("%d requests were sent, and %d have a sample", f.sent, n))
	}
	if f.now == 0 && f.area != sum {
		errs = append(errs, fmt.Errorf("little's law: requests were in flight for %v in all, and by their samples for %v", f.area, sum))
	}
	return errors.Join(errs...)
}
