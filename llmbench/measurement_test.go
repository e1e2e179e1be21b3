package llmbench

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestOverUnixSocket checks for which targets the control streams use a Unix socket.
func TestOverUnixSocket(t *testing.T) {
	assert.Assert(t, Target{URL: "unix:///run/llm.sock"}.overUnixSocket())
	assert.Assert(t, !Target{URL: "http://127.0.0.1:1"}.overUnixSocket())
}

// TestMedianGap checks the median gap, which determines the pace of the control streams.
func TestMedianGap(t *testing.T) {
	assert.Equal(t, medianGap(sample.All()), time.Duration(0))
	assert.Equal(t, medianGap(sample.All(sample.Sample{Gaps: []time.Duration{9, 1}}, sample.Sample{}, sample.Sample{Gaps: []time.Duration{5}})), time.Duration(5))
}

// TestBound checks what happens to distorted metrics, depending on the load, the environment and the
// target.
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
		m, err := setUp(process.Join("test"), Target{URL: "http://server", Simulated: tt.simulated}, Load{Requests: words(1, 1), Concurrency: 1, ClientBound: tt.load})
		assert.NilError(t, err)
		m.close()
		assert.Equal(t, m.bound, tt.want, "%+v", tt)
	}
}

// TestUnreadSamples checks a pass whose stored samples cannot be read again. The error must say so, and not
// draw conclusions from the samples that could be read.
func TestUnreadSamples(t *testing.T) {
	samples := store.New(0, t.TempDir())
	for range 1000 {
		assert.NilError(t, samples.Add(&sample.Sample{Outcome: sample.OK}))
	}
	assert.NilError(t, samples.Close())
	r := &run{measurement: &measurement{samples: samples}}
	assert.Error(t, r.check(t.Context(), 0, r.all()), "samples that were kept in a file: file already closed")
}
