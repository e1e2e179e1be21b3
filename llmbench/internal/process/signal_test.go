package process

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestSecondSignal checks that signals are caught for a second after the first one, which interrupts at once.
func TestSecondSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, first := context.WithCancel(t.Context())
		interrupt, cancel := context.WithCancelCause(context.Background())
		var stopped atomic.Bool
		onSignal(ctx, cancel, func() { stopped.Store(true) })
		synctest.Wait()
		assert.NilError(t, interrupt.Err())
		first()
		synctest.Wait()
		assert.Equal(t, context.Cause(interrupt), errInterrupted)
		time.Sleep(999 * time.Millisecond)
		assert.Assert(t, !stopped.Load())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		assert.Assert(t, stopped.Load())
	})
}
