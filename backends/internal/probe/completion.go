package probe

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Completion waits until t answers a completion. It returns the sample of the answered request and the time
// at which that request was sent. An open port or a successful health check would not be enough, because
// servers can have both before their model is loaded. If the dialect of t has inputs, the request asks for a
// vector or a score instead, and is never streamed.
//
// Completion retries while connections fail, while the server sheds the request, and while the status is
// 503. Before each retry it waits for the time that the server asks for, unless that is after the deadline
// of ctx. Any other error status is final, and so is a connection error that [Mistake] explains. attempt is
// called with nil when an attempt begins, and with its error before each retry.
func Completion(ctx context.Context, t llmbench.Target, stream bool, attempt func(error)) (sent time.Time, s sample.Sample, err error) {
	r := llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}
	if d, ok := t.Dialect.(dialect.ItemsDialect); ok {
		r, stream = llmbench.Request{Inputs: []string{"Say hello."}}, false
		if d.Ranks() {
			r.Prompt = "What is said?"
		}
	}
	err = Poll(ctx, func() (again bool, err error) {
		attempt(nil)
		sent = time.Now()
		s = llmbench.Do(ctx, t, r, stream)
		if s.Outcome == sample.OK {
			return false, nil
		}
		if mistake := Mistake(ctx, t, s.Err); mistake != nil {
			return false, mistake
		}
		again = s.Outcome == sample.Connect || s.Outcome == sample.Shed || s.Outcome == sample.HTTP && RefusedForNow(s.Status)
		if again {
			attempt(s.Err)
			again = wait(ctx, &s)
		}
		return again, s.Err
	})
	return sent, s, err
}

// RefusedForNow reports whether a server that answers with this status may accept the request later.
func RefusedForNow(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// limitedPause is the pause after a server has shed a request, if the server does not ask for another pause.
const limitedPause = time.Second

// wait waits for the time that the server asks for in the answer s. It returns false immediately if the
// deadline of ctx is earlier.
func wait(ctx context.Context, s *sample.Sample) bool {
	pause := s.RetryAfter
	if s.Outcome == sample.Shed {
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
