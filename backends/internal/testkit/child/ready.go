package child

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	readyTimeout = 2 * time.Minute // from the start of the process until it is ready
	readyPoll    = 20 * time.Millisecond
)

// WaitReady calls ready every 20 ms until it returns nil, for at most two minutes. The context of the calls
// is canceled when ctx ends, after the two minutes, and when the process ends. If the process has ended,
// the error says how. Otherwise the error says what ended the wait, and includes the last error of ready.
func (p *Process) WaitReady(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not ready after %v", readyTimeout))
	defer cancel()
	calls, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-p.Done:
			end()
		case <-calls.Done():
		}
	}()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for last := errors.New("no answer"); ; {
		err := ready(calls)
		if err != nil && calls.Err() == nil {
			last = err
		}
		select {
		case <-p.Done: // even if err is nil: another process may have answered
			return fmt.Errorf("ended before it was ready: %w", p.Err)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.Done:
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// Answers returns a function for [Process.WaitReady] that returns nil if url answers with status.
func Answers(client *http.Client, url string, status int) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		res.Body.Close()
		if res.StatusCode != status {
			return fmt.Errorf("GET %s: %s", url, res.Status)
		}
		return nil
	}
}
