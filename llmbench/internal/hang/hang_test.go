package hang

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestBound checks that an operation which ends in time returns its own error, and that nobody waits
// longer for one that hangs.
func TestBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left")
		assert.Equal(t, Bound("f", func() error { time.Sleep(Limit - 1); return full }), full)
		assert.NilError(t, Bound("f", func() error { return nil }))

		begin, free := time.Now(), make(chan struct{})
		err := Bound("f", func() error { <-free; return nil })
		assert.Error(t, err, "f: a write has not ended after 1m0s: the disk hangs")
		assert.Equal(t, time.Since(begin), Limit)
		close(free)
	})
}
