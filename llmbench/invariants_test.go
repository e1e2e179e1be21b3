package llmbench

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestVerifyFlight checks that too many requests in flight are noticed, and requests without a
// sample or with two.
func TestVerifyFlight(t *testing.T) {
	s := []sample.Sample{{Outcome: sample.OK}, {Outcome: sample.OK}, {Outcome: sample.Canceled, Err: errNotSent}}
	assert.NilError(t, verify(s, &flight{sent: 2}, 0))
	assert.ErrorContains(t, verify(s, &flight{sent: 3}, 0), "3 requests were sent, but 2 have a sample")
	assert.ErrorContains(t, verify(s, &flight{sent: 1}, 0), "1 requests were sent, but 2 have a sample")
	assert.ErrorContains(t, verify(s, &flight{sent: 2, now: 1}, 0), "1 requests are in flight after the pass")
	f := &flight{most: 9}
	assert.ErrorContains(t, verify(nil, f, 8), "9 requests were in flight, but at most 8 were allowed")
	assert.NilError(t, verify(nil, f, 9))
	assert.NilError(t, verify(nil, f, 0))
}

// TestLittlesLaw checks that changed instants of a sample are noticed, and that a change of the
// clock is none.
func TestLittlesLaw(t *testing.T) {
	var f flight
	var samples []sample.Sample
	for i := range 20 {
		s := sample.Sample{Admitted: time.Duration(i) * ms, Start: time.Duration(i) * ms, End: time.Second, EndLag: ms}
		f.enter(s.Admitted)
		samples = append(samples, s)
	}
	for _, s := range samples {
		f.leave(s.End + s.EndLag)
	}
	assert.NilError(t, verify(samples, &f, 0))
	for i := range samples {
		samples[i].ToUserClock()
	}
	assert.NilError(t, verify(samples, &f, 20))
	assert.ErrorContains(t, verify(samples[1:], &f, 0), "little's law: requests were in flight for 19.83s in total, but for 18.829s by their samples")
	samples[3].End--
	assert.ErrorContains(t, verify(samples, &f, 0), "little's law")
}
