package store

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestWriteHangs checks that an operation that ends in time returns its own error, and that the caller does
// not wait for an operation that hangs.
func TestWriteHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left")
		assert.Equal(t, Write("f", func() error { time.Sleep(WriteLimit - 1); return full }), full)
		assert.NilError(t, Write("f", func() error { return nil }))

		begin, free := time.Now(), make(chan struct{})
		err := Write("f", func() error { <-free; return nil })
		assert.Error(t, err, "f: a write has not ended after 1m0s: the disk hangs")
		assert.Equal(t, time.Since(begin), WriteLimit)
		close(free)
	})
}
