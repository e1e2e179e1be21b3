package llmbench

import (
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
	k, err := newControl(0)
	assert.NilError(t, err)
	defer k.close()
	assert.Equal(t, k.tokens, 12)
	for range 2 {
		var got distortion.Errors
		runtest.Until(t, "two streams are measured", func() bool {
			k.begin(t.Context(), perControl)
			got = k.end()
			return got.Streams >= 2
		})
		assert.Equal(t, len(got.Late), got.Streams*k.tokens)
	}
	for _, tt := range []struct{ pace, want time.Duration }{{1, ms}, {time.Hour, 25 * ms}, {20 * ms, 20 * ms}} {
		k, err := newControl(tt.pace)
		assert.NilError(t, err)
		assert.Equal(t, k.pace, tt.want)
		k.close()
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
		{"", "", false, BoundFails},
		{"", "", true, BoundReported},
		{"", BoundWithheld, false, BoundWithheld},
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
