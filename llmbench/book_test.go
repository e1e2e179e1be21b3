package llmbench

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A stuckWriter accepts left records. Further writes hang until free is closed.
type stuckWriter struct {
	left int
	free chan struct{} // closed when the disk works again
}

func (w *stuckWriter) Name() string            { return "x.jsonl" }
func (w *stuckWriter) Flush() error            { return nil }
func (w *stuckWriter) Close(records.End) error { return errors.New("closed while a write hangs") }
func (w *stuckWriter) Write(*sample.Sample) error {
	if w.left--; w.left < 0 {
		<-w.free
	}
	return nil
}

// TestHangingDisk checks that a write that hangs becomes an error after a while, and that the file is not
// used after that.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuckWriter{left: 5, free: make(chan struct{})}
		b := &book{to: stuck}
		for range 5 {
			assert.NilError(t, b.write(&sample.Sample{}, false))
		}
		begin := time.Now()
		assert.Error(t, b.write(&sample.Sample{}, false), "x.jsonl: a write has not ended after 1m0s: the disk hangs")
		assert.Equal(t, time.Since(begin), store.WriteLimit)
		assert.NilError(t, b.close(records.End{}))
		close(stuck.free)
	})
}
