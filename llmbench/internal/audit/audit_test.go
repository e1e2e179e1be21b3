package audit

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const ms = time.Millisecond

// of returns an Audit of samples.
func of(samples ...sample.Sample) *Audit {
	var a Audit
	for i := range samples {
		a.Add(&samples[i])
	}
	return &a
}

// TestFlight checks that errors are found: too many requests in flight, requests without a sample, and
// requests with two samples.
func TestFlight(t *testing.T) {
	two := of(sample.Sample{Outcome: sample.OK}, sample.Sample{Outcome: sample.OK})
	assert.NilError(t, two.Check(&Flight{sent: 2}, 0))
	assert.ErrorContains(t, two.Check(&Flight{sent: 3}, 0), "3 requests were sent, but 2 have a sample")
	assert.ErrorContains(t, two.Check(&Flight{sent: 1}, 0), "1 requests were sent, but 2 have a sample")
	assert.ErrorContains(t, two.Check(&Flight{sent: 2, now: 1}, 0), "1 requests are in flight after the pass")
	f := &Flight{most: 9}
	assert.ErrorContains(t, of().Check(f, 8), "9 requests were in flight, but at most 8 were allowed")
	assert.NilError(t, of().Check(f, 9))
	assert.NilError(t, of().Check(f, 0))
}

// TestLittlesLaw checks that changed instants of a sample are found, and that a change of the clock is not
// an error.
func TestLittlesLaw(t *testing.T) {
	var f Flight
	var samples []sample.Sample
	for i := range 20 {
		s := sample.Sample{Admitted: time.Duration(i) * ms, Start: time.Duration(i) * ms, End: time.Second, EndLag: ms}
		f.Enter(s.Admitted)
		samples = append(samples, s)
	}
	for _, s := range samples {
		f.Leave(s.End + s.EndLag)
	}
	assert.NilError(t, of(samples...).Check(&f, 0))
	for i := range samples {
		samples[i].ToUserClock()
	}
	assert.NilError(t, of(samples...).Check(&f, 20))
	assert.ErrorContains(t, of(samples[1:]...).Check(&f, 0), "little's law: requests were in flight for 19.83s in total, but for 18.829s by their samples")
	samples[3].End--
	assert.ErrorContains(t, of(samples...).Check(&f, 0), "little's law")
}

// TestFaults checks that the error describes the first samples that contradict themselves.
func TestFaults(t *testing.T) {
	bad := sample.Sample{ID: "x", Request: 7, Admitted: 2, Start: 1, End: 2}
	err := of(bad, sample.Sample{}, bad, bad, bad).Check(&Flight{sent: 5}, 0)
	assert.Error(t, err, `request 7 x: due 0s, granted 0s, admitted 2ns, sent 1ns: want them in this order
request 7 x: due 0s, granted 0s, admitted 2ns, sent 1ns: want them in this order
request 7 x: due 0s, granted 0s, admitted 2ns, sent 1ns: want them in this order`)
}
