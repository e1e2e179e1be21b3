// Package audit checks the samples of every pass for contradictions. Its conditions hold whatever the
// server does. A contradiction is therefore a bug in the harness, or the server reported something
// impossible.
package audit

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Audit sums up the samples of one pass. The zero value has no samples.
type Audit struct {
	sent   int           // number of samples that were added
	busy   time.Duration // sum of the times for which these requests were in flight
	faults []error
}

// maxFaults is the maximum number of faulty samples that an error describes.
const maxFaults = 3

// Add adds the sample of a request that was sent.
func (a *Audit) Add(s *sample.Sample) {
	a.sent++
	a.busy += s.End + s.EndLag - s.Admitted
	if len(a.faults) == maxFaults {
		return
	}
	if err := s.Check(); err != nil {
		a.faults = append(a.faults, fmt.Errorf("request %d %s: %w", s.Request, s.ID, err))
	}
}

// Check returns an error if a sample contradicts itself, or if the samples contradict f. It also returns an
// error if more than bound requests were in flight at once, unless bound is 0.
func (a *Audit) Check(f *Flight, bound int) error {
	var errs []error
	if bound > 0 && f.most > bound {
		errs = append(errs, fmt.Errorf("%d requests were in flight, but at most %d were allowed", f.most, bound))
	}
	if f.now != 0 {
		errs = append(errs, fmt.Errorf("%d requests are in flight after the pass", f.now))
	}
	errs = append(errs, a.faults...)
	if a.sent != f.sent {
		errs = append(errs, fmt.Errorf("%d requests were sent, but %d have a sample", f.sent, a.sent))
	}
	if f.now == 0 && f.area != a.busy {
		errs = append(errs, fmt.Errorf("little's law: requests were in flight for %v in total, but for %v by their samples", f.area, a.busy))
	}
	return errors.Join(errs...)
}
