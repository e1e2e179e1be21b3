package backends

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// tellEvery is the time between two reports of a wait.
const tellEvery = 10 * time.Second

const (
	// probeTimeout is how long one probe of a server may take: one that hangs
	// is not waited for to the end of the stage.
	probeTimeout = 10 * time.Second
	// refusalGrace is how long a server may refuse what it should answer: a
	// front-end may be up before its routes are.
	refusalGrace = 10 * time.Second
)

// poll is poll for a stage of the server's start. Every error is a reason to go
// on, but for refusals that waiting does not mend: a key that is wanted, or a
// path that is not there. It tells how far the wait has come.
func (r *running) poll(ctx context.Context, name string, try func(context.Context) error) error {
	began, told := time.Now(), time.Now()
	var refused time.Time // since when, or zero
	return poll(ctx, func() (again bool, err error) {
		one, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("no answer in %v", probeTimeout))
		defer cancel()
		err = try(one)
		var status statusError
		switch {
		case !errors.As(err, &status) || status.code != http.StatusUnauthorized && status.code != http.StatusForbidden && status.code != http.StatusNotFound:
			refused = time.Time{}
		case refused.IsZero():
			refused = time.Now()
		case time.Since(refused) >= refusalGrace:
			return false, err
		}
		if err != nil && time.Since(told) >= tellEvery {
			lines := append(r.log.Lines(), "nothing")
			r.logf("%s: %s: not yet after %v: %v; its log says: %s", r.spec.backend, name, time.Since(began).Round(time.Second), err, lines[max(0, len(lines)-2)])
			told = time.Now()
		}
		return err != nil, err
	})
}

// ready waits until t answers a completion: an open port or a healthy status is
// not enough, as servers have both before their model is loaded. A server that
// refuses for a reason that waiting does not mend ends the wait at once. It
// returns the sample of the completion and when that was sent.
func ready(ctx context.Context, t llmbench.Target, stream bool, logf func(string, ...any)) (sent time.Time, s sample.Sample, err error) {
	began, told := time.Now(), time.Now()
	err = poll(ctx, func() (again bool, err error) {
		sent = time.Now()
		s = llmbench.Do(ctx, t, llmbench.Request{Prompt: "Say hello.", MaxTokens: 4}, stream)
		if s.Outcome == sample.OK {
			return false, nil
		}
		if time.Since(told) > tellEvery {
			logf("not ready after %v: %s: %v", time.Since(began).Round(time.Second), s.Outcome, s.Err)
			told = time.Now()
		}
		var untrusted *tls.CertificateVerificationError
		waiting := s.Outcome == sample.Connect && !errors.As(s.Err, &untrusted) ||
			s.Outcome == sample.HTTP && s.Status == http.StatusServiceUnavailable
		return waiting, s.Err
	})
	return sent, s, err
}

// poll calls try until it says not to do so again, or ctx ends; the error is
// the last one that try gave while there was time. The time between two calls
// is a twentieth of the time waited, so that a wait is known that well.
func poll(ctx context.Context, try func() (again bool, err error)) error {
	began := time.Now()
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
		case <-time.After(min(max(time.Since(began)/20, 10*time.Millisecond), 500*time.Millisecond)):
		case <-ctx.Done():
			return last
		}
	}
}
