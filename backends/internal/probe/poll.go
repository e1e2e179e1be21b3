package probe

import (
	"context"
	"fmt"
	"time"
)

// slow is how long an attempt may take until its reason not to have succeeded is that there is no answer,
// instead of the error of the attempt before it.
const slow = time.Second

// Poll calls try until try returns again=false or ctx ends. When ctx ends, Poll returns the last error that
// try returned before that, if there is one, because the server's own answer says more than "deadline
// exceeded". If the last call of try took a second or longer, the error begins with how long that call had no
// answer. The pause between two calls is a twentieth of the time waited so far, but at least 10 ms and at most
// 500 ms, so the length of a wait is known to about 5 %.
func Poll(ctx context.Context, try func() (again bool, err error)) error {
	began := time.Now()
	var last error
	for {
		called := time.Now()
		again, err := try()
		took := time.Since(called)
		if err != nil && ended(ctx) && last != nil {
			if took >= slow {
				return fmt.Errorf("%w; before that, %s", unanswered(took), Reason(last))
			}
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

// unanswered returns the error of an attempt that has waited for an answer for so long.
func unanswered(waited time.Duration) error {
	return fmt.Errorf("no answer in %v", waited.Round(100*time.Millisecond))
}

// ended reports whether ctx has ended. If the deadline of ctx has passed, ended waits until ctx has ended
// too: a connection that takes its deadline from ctx can fail shortly before.
func ended(ctx context.Context) bool {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}
