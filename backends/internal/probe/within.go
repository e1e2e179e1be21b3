package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var errEnded = errors.New("the server ended")

// Within runs do, a stage of a server's start. The context of do is canceled after limit, or when a channel
// in ended is closed; each channel belongs to a process or container of the server. If do fails because its
// context was canceled, the error says why the context was canceled. Otherwise it is the error of do.
func Within(ctx context.Context, limit time.Duration, ended []<-chan struct{}, do func(context.Context) error) error {
	late := fmt.Errorf("not within %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, end := range ended {
		go func() {
			select {
			case <-end:
				fail(errEnded)
			case <-ctx.Done():
			}
		}()
	}
	err := do(ctx)
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case cause == late:
		return fmt.Errorf("%w: %w", late, err)
	case cause != nil:
		return cause
	}
	return err
}

// endGrace is how long AwaitEnd waits.
const endGrace = time.Second

// AwaitEnd waits up to a second until a channel in ended is closed. Call it after a stage has failed: a server that
// closes its connections may be about to exit, and then its exit status says more than the error of the stage.
func AwaitEnd(ended []<-chan struct{}) {
	if len(ended) > 0 {
		_ = Within(context.Background(), endGrace, ended, func(ctx context.Context) error { <-ctx.Done(); return nil })
	}
}

// Every calls do after each interval until stop is called. stop cancels the context of a running call and
// waits for the call to return.
func Every(interval time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do(ctx)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
