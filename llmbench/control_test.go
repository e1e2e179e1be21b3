package llmbench

import (
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestControl checks the number of errors that a control returns: each worker ends the stream
// that it began.
func TestControl(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, unix := range []bool{false, true} {
		k, err := newControl(0, unix)
		assert.NilError(t, err)
		assert.Equal(t, k.client.at.Socket != "", unix)
		assert.Equal(t, k.tokens, 12)
		for range 2 {
			var got distortion.Errors
			runtest.Until(t, "two streams are measured", func() bool {
				k.begin(t.Context(), perControl, time.Now())
				got = k.end()
				return got.Streams >= 2
			})
			assert.Equal(t, len(got.Late), got.Streams*k.tokens)
		}
		k.close()
		left, err := os.ReadDir(os.TempDir())
		assert.NilError(t, err)
		assert.Equal(t, len(left), 0, "%v", left)
	}
	for _, tt := range []struct{ pace, want time.Duration }{{1, ms}, {time.Hour, 25 * ms}, {20 * ms, 20 * ms}} {
		k, err := newControl(tt.pace, false)
		assert.NilError(t, err)
		assert.Equal(t, k.pace, tt.want)
		k.close()
	}
}

// TestControlOfUnixSocket checks that a target at a Unix socket has its control at one, too.
func TestControlOfUnixSocket(t *testing.T) {
	for _, url := range []string{"unix:///run/llm.sock", "http://127.0.0.1:1"} {
		m, err := setUp(Target{URL: url}, Load{Requests: words(1, 1), Concurrency: 1})
		assert.NilError(t, err)
		assert.NilError(t, m.prepare(t.Context(), true))
		assert.Equal(t, m.control.client.at.Socket != "", m.client.at.Socket != "", url)
		assert.NilError(t, m.samples.Close())
		m.close()
	}
}

// TestMedianGap checks the median that sets the control's pace.
func TestMedianGap(t *testing.T) {
	assert.Equal(t, medianGap(sample.All()), time.Duration(0))
	assert.Equal(t, medianGap(sample.All(sample.Sample{Gaps: []time.Duration{9, 1}}, sample.Sample{}, sample.Sample{Gaps: []time.Duration{5}})), time.Duration(5))
}

// TestBound checks what happens to distorted figures by default.
func TestBound(t *testing.T) {
	for _, tt := range []struct {
		load      ClientBound
		env       ClientBound
		simulated bool
		want      ClientBound
	}{
		{"", "", false, BoundWithheld},
		{"", "", true, BoundReported},
		{"", BoundFails, false, BoundFails},
		{"", BoundFails, true, BoundFails},
		{BoundReported, BoundFails, false, BoundReported},
	} {
		t.Setenv("LLMBENCH_CLIENT_BOUND", string(tt.env))
		m, err := setUp(Target{URL: "http://server", Simulated: tt.simulated}, Load{Requests: words(1, 1), Concurrency: 1, ClientBound: tt.load})
		assert.NilError(t, err)
		m.close()
		assert.Equal(t, m.bound, tt.want, "%+v", tt)
	}
}
