package probe

import (
	"context"
	"time"
)

// Poll calls try until try returns false for again, or ctx ends. Its error is
// the last one that try returned before the end or the deadline of ctx, if there is
// one: the server's own answer says more than "deadline exceeded". The pause between
// two calls is a twentieth of the time waited so far, from 10 ms to 500 ms, so that
// the length of a wait is known to about 5 %.
func Poll(ctx context.Context, try func() (again bool, err error)) error {
	began := time.Now()
	var last error
	for {
		again, err := try()
		if err != nil && ended(ctx) && last != nil {
			return last
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

// ended reports whether ctx has ended. If the deadline of ctx has passed, it waits for
// the end: a connection that takes its deadline from ctx can fail shortly before.
func ended(ctx context.Context) bool {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}
