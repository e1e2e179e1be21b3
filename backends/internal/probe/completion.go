package probe

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Completion waits until t answers a completion, and returns when the answered
// request was sent and its sample. An open port or a good health check is not
// enough, because servers have both before their model is loaded. Completion goes
// on while connections fail and while the status is 503 or 429, and waits for the
// time that the server asks for, unless ctx ends before. Any other refusal is
// final, and so is a connection that [Mistake] explains. failed is called with the
// error of each request after which Completion goes on.
func Completion(ctx context.Context, t llmbench.Target, stream bool, failed func(error)) (sent time.Time, s sample.Sample, err error) {
	err = Poll(ctx, func() (again bool, err error) {
		sent = time.Now()
		s = llmbench.Do(ctx, t, llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}, stream)
		if s.Outcome == sample.OK {
			return false, nil
		}
		if mistake := Mistake(ctx, t, s.Err); mistake != nil {
			return false, mistake
		}
		again = s.Outcome == sample.Connect || s.Outcome == sample.HTTP && RefusedForNow(s.Status)
		if again {
			failed(s.Err)
			again = wait(ctx, &s)
		}
		return again, s.Err
	})
	return sent, s, err
}

// RefusedForNow reports whether a server that answers with that status may answer otherwise later.
func RefusedForNow(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// limitedPause is the pause after a server has refused a request because there were too many, if the
// server asks for no other.
const limitedPause = time.Second

// wait waits for the time that a server asks for that refused a request. It returns false, at once, if
// ctx ends before.
func wait(ctx context.Context, s *sample.Sample) bool {
	pause := s.RetryAfter
	if s.Status == http.StatusTooManyRequests {
		pause = cmp.Or(pause, limitedPause)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return false
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	return true
}
