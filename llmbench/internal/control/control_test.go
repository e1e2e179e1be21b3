package control

import (
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestControl checks the number of errors that a control returns: each worker ends the stream
// that it began.
func TestControl(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, unix := range []bool{false, true} {
		k, err := New(0, unix)
		assert.NilError(t, err)
		assert.Equal(t, k.tokens, 12)
		for range 2 {
			var got distortion.Errors
			runtest.Until(t, "two streams are measured", func() bool {
				k.Begin(t.Context(), perControl, time.Now())
				k.End()
				got = k.Errors()
				return got.Streams >= 2
			})
			assert.Equal(t, len(got.Late), got.Streams*k.tokens)
		}
		k.Close()
		left, err := os.ReadDir(os.TempDir())
		assert.NilError(t, err)
		assert.Equal(t, len(left), 0, "%v", left)
	}
	for _, tt := range []struct{ pace, want time.Duration }{{1, time.Millisecond}, {time.Hour, 25 * time.Millisecond}, {20 * time.Millisecond, 20 * time.Millisecond}} {
		k, err := New(tt.pace, false)
		assert.NilError(t, err)
		assert.Equal(t, k.pace, tt.want)
		k.Close()
	}
}
