package send

import (
	"context"
	"fmt"
	"time"
)

const (
	// quietTime is how long no byte of an answer has come before the client looks whether the server is still there.
	// Servers are quiet while they process long prompts.
	quietTime = 10 * time.Second
	// A server is gone if it refuses so many connections, one after the other with a pause between them.
	looks     = 3
	lookPause = time.Second
	// silentTime is how long no byte of an answer has come before a pass ends that is void anyway.
	silentTime = 30 * time.Second
)

// watch ends the pass if its server is gone, until stop is called. A server that ends by SIGTERM closes its port, but
// may keep a stream open, without a byte, as long as the client waits. Without the watch, both would wait until the
// timeout of the request.
func (ps *passage) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause, refused := quietTime, 0
		for Sleep(ctx, pause) == nil {
			quiet := ps.clock.Now() - ps.heard()
			if quiet < quietTime {
				pause, refused = quietTime-quiet, 0
				continue
			}
			if pause = quietTime; ps.client.pool.Refuses(ctx) {
				pause = lookPause
				refused++
			} else {
				refused = 0
			}
			if why := ps.hopeless(quiet, refused >= looks); why != nil {
				ps.giveUp(why)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// heard returns the last instant at which a part of an answer came, or 0.
func (ps *passage) heard() (last time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, w := range ps.workers {
		last = max(last, time.Duration(w.in.heard.Load()))
	}
	return last
}

// hopeless returns why the pass should end, or nil. The server has sent nothing for the time quiet. The argument gone says
// that nothing listens at its address.
func (ps *passage) hopeless(quiet time.Duration, gone bool) error {
	most, failed := ps.mostFailed(), int(ps.recorder.failed.Load())
	quiet = quiet.Round(time.Second)
	switch {
	case gone && (most < 0 || failed+ps.flight.Now() > most):
		return fmt.Errorf("the server is gone: nothing listens at %s, and no answer had a byte for %v", ps.client.server.At.Where(), quiet)
	case most >= 0 && failed > most && quiet >= silentTime:
		return fmt.Errorf("given up: %d requests had failed, which is more than are tolerated, and no answer had a byte for %v", failed, quiet)
	}
	return nil
}
