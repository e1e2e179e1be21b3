package probe

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Completion waits until t answers a completion, and returns when the answered
// request was sent and its sample. An open port or a good health check is not
// enough, because servers have both before their model is loaded. Completion goes
// on while connections fail and while the status is 503. Any other refusal is
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
		again = s.Outcome == sample.Connect || s.Outcome == sample.HTTP && s.Status == http.StatusServiceUnavailable
		if again {
			failed(s.Err)
		}
		return again, s.Err
	})
	return sent, s, err
}
