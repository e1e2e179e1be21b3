package probe

import (
	"context"
	"time"
)

// Poll calls try until try returns again=false or ctx ends. When ctx ends, Poll returns the last error that
// try returned before that, if there is one, because the server's own answer says more than "deadline
// exceeded". The pause between two calls is a twentieth of the time waited so far, but at least 10 ms and
// at most 500 ms, so the length of a wait is known to about 5 %.
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

// ended reports whether ctx has ended. If the deadline of ctx has passed, ended waits until ctx has ended
// too: a connection that takes its deadline from ctx can fail shortly before.
func ended(ctx context.Context) bool {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}
