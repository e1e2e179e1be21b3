// Package patient sends the requests that come before a measurement. If a server refuses one only
// for the moment, the package sends it again.
package patient

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// These are the limits of the tries to send one request before a measurement.
const (
	Tries      = 8
	Time       = time.Minute // from the first try to the beginning of the last
	firstPause = 250 * time.Millisecond
)

// Send calls send, and calls it again while the server refuses the request only for the moment. It
// first waits for the time that the server asks for (Retry-After), or else for a pause that grows.
// It returns the last sample. Its error comes from send, or says that ctx ended.
func Send(ctx context.Context, logf func(string, ...any), send func() (sample.Sample, error)) (s sample.Sample, err error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = firstPause
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		s, err = send()
		switch {
		case err != nil || s.Outcome == sample.OK || !refusedForNow(&s):
			return struct{}{}, nil
		case s.RetryAfter > 0:
			return struct{}{}, &backoff.RetryAfterError{Duration: s.RetryAfter}
		}
		return struct{}{}, errors.New("refused")
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(Tries), backoff.WithMaxElapsedTime(Time),
		backoff.WithNotify(func(_ error, pause time.Duration) {
			logf("a request before the measurement is sent again in %v: %s: %v", pause.Round(time.Millisecond), s.Outcome, s.Err)
		}))
	if err == nil {
		err = context.Cause(ctx)
	}
	return s, err
}

// refusedForNow reports whether the server might answer the same request later.
func refusedForNow(s *sample.Sample) bool {
	switch s.Outcome {
	case sample.Connect, sample.Truncated, sample.Shed:
		return true
	case sample.HTTP, sample.ServerError:
		switch cmp.Or(s.ErrorStatus, s.Status) {
		case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	return false
}
