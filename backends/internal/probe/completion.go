package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Completion waits until t answers a completion, and returns when the answered
// request was sent and its sample. An open port or a good health check is not
// enough, because servers have both before their model is loaded. Completion goes
// on while connections fail and while the status is 503. Any other refusal is
// final, and so is a TLS certificate that is not trusted. logf receives a message
// about the wait every [ReportInterval].
func Completion(ctx context.Context, t llmbench.Target, stream bool, logf func(string, ...any)) (sent time.Time, s sample.Sample, err error) {
	began, reported := time.Now(), time.Now()
	err = Poll(ctx, func() (again bool, err error) {
		sent = time.Now()
		s = llmbench.Do(ctx, t, llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}, stream)
		if s.Outcome == sample.OK {
			return false, nil
		}
		if time.Since(reported) > ReportInterval {
			logf("not ready after %v: %s: %v", time.Since(began).Round(time.Second), s.Outcome, s.Err)
			reported = time.Now()
		}
		var untrusted *tls.CertificateVerificationError
		again = s.Outcome == sample.Connect && !errors.As(s.Err, &untrusted) ||
			s.Outcome == sample.HTTP && s.Status == http.StatusServiceUnavailable
		return again, s.Err
	})
	return sent, s, err
}
