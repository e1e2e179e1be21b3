package probe

import (
	"context"
	"time"
)

// ReportInterval is the time between two messages about a wait that goes on.
const ReportInterval = 10 * time.Second

// Poll calls try until try returns false for again, or ctx ends. Its error is
// the last one that try returned before ctx ended. The pause between two calls is
// a twentieth of the time waited so far, from 10 ms to 500 ms, so that the length
// of a wait is known to about 5 %.
func Poll(ctx context.Context, try func() (again bool, err error)) error {
	began := time.Now()
	var last error
	for {
		again, err := try()
		if err != nil && last != nil && ctx.Err() != nil {
			return last // the server's own answer says more than "deadline exceeded"
		}
		if !again {
			return err
		}
		last = err
		select {
		case <-time.After(min(max(time.Since(began)/20, 10*time.Millisecond), 500*time.Millisecond)):
		case <-ctx.Done():
			return last
		}
	}
}
