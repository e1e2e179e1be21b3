package backends

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// pollEvery is the time between two looks at a server that is not ready.
const pollEvery = 250 * time.Millisecond

// ready waits until t answers a completion: an open port or a healthy status is
// not enough, as servers have both before their model is loaded. A server that
// refuses for a reason that waiting does not mend ends the wait at once.
func ready(ctx context.Context, t llmbench.Target, logf func(string, ...any)) error {
	began, told := time.Now(), time.Now()
	return poll(ctx, func() (again bool, err error) {
		// Not streamed, which every server can: the load may not want streams.
		s := llmbench.Do(ctx, t, llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}, false)
		if s.Outcome == llmbench.OK {
			return false, nil
		}
		if time.Since(told) > 10*time.Second {
			logf("not ready after %v: %s: %v", time.Since(began).Round(time.Second), s.Outcome, s.Err)
			told = time.Now()
		}
		var untrusted *tls.CertificateVerificationError
		waiting := s.Outcome == llmbench.Connect && !errors.As(s.Err, &untrusted) ||
			s.Outcome == llmbench.HTTP && s.Status == http.StatusServiceUnavailable
		return waiting, s.Err
	})
}

// poll calls try until it says not to do so again, or ctx ends; the error is
// the last one that try gave while there was time.
func poll(ctx context.Context, try func() (again bool, err error)) error {
	var last error
	for {
		again, err := try()
		if err != nil && last != nil && ctx.Err() != nil {
			return last // what the server said, rather than that time was up
		}
		if !again {
			return err
		}
		last = err
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return last
		}
	}
}
