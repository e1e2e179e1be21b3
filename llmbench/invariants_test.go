package llmbench

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestVerify checks that what cannot be is noticed.
func TestVerify(t *testing.T) {
	good := func() sample.Sample {
		return sample.Sample{ID: "a", Due: 9, Admitted: 10, Start: 12, Scheduled: true, First: 20, Last: 50, Deltas: 3, Gaps: []time.Duration{10, 20},
			End: 60, Streamed: true, Outcome: sample.OK, OutputTokens: 3, MaxTokens: 3, TokenSource: sample.FromUsage}
	}
	for _, tt := range []struct {
		name  string
		spoil func(s *sample.Sample)
		want  string // "" is nothing
	}{
		{"nothing", func(s *sample.Sample) {}, ""},
		{"a gap too long", func(s *sample.Sample) { s.Gaps[0]++ }, "request 0 a: gaps add up to 31ns, and the last delta came 30ns after the first"},
		{"a gap below 0", func(s *sample.Sample) { s.Gaps[0], s.Gaps[1] = -1, 31 }, "gaps [-1ns 31ns]; want none below 0"},
		{"a gap too few", func(s *sample.Sample) { s.Gaps = s.Gaps[:1] }, "1 gaps between 3 deltas"},
		{"sent before it was admitted", func(s *sample.Sample) { s.Start = 9 }, "due 9ns, granted 0s, admitted 10ns, sent 9ns"},
		{"admitted before it was due", func(s *sample.Sample) { s.Due = 11 }, "due 11ns, granted 0s, admitted 10ns"},
		{"admitted before it had its turn", func(s *sample.Sample) { s.Granted = 11 }, "due 9ns, granted 11ns, admitted 10ns"},
		{"not scheduled", func(s *sample.Sample) { s.Due, s.Scheduled = 12, false }, ""},
		{"ended before its last delta", func(s *sample.Sample) { s.End = 40 }, "ended at 40ns, before its last delta at 50ns"},
		{"a failure may have", func(s *sample.Sample) { s.End, s.Outcome = 40, sample.Truncated }, ""},
		{"the first byte after the first delta", func(s *sample.Sample) { s.FirstByte = 21 }, "first byte 21ns, first delta 20ns"},
		{"the first byte before the send", func(s *sample.Sample) {
			s.Start, s.FirstByte, s.First, s.Last, s.End = time.Second, 20, time.Second, time.Second+30, time.Minute
		}, "sent 1s, first byte 20ns"},
		{"more outputs than deltas", func(s *sample.Sample) { s.Outputs, s.FirstOutput = 4, 20 }, "4 of 3 deltas more than reasoning"},
		{"an output before the first delta", func(s *sample.Sample) { s.Outputs, s.FirstOutput = 1, 19 }, "the first at 19ns; want it between 20ns and 50ns"},
		{"an output after the last delta", func(s *sample.Sample) { s.Outputs, s.FirstOutput = 1, 51 }, "the first at 51ns"},
		{"a lag too few", func(s *sample.Sample) { s.Lags = []time.Duration{1, 1} }, "2 read lags of 3 deltas"},
		{"a delta before the send", func(s *sample.Sample) { s.Start = time.Second }, "sent 1s, first delta 20ns"},
		{"more tokens than allowed, which is the server's affair", func(s *sample.Sample) { s.OutputTokens = 9 }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(&s)
			err := verify([]sample.Sample{s}, &flight{area: s.End - s.Admitted, most: 1, sent: 1}, 1)
			if tt.want == "" {
				assert.NilError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.want)
			}
		})
	}
}

// TestVerifyFlight checks that too many requests in flight, and one without a
// sample, or with two, are noticed.
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

// TestLittlesLaw checks that samples whose instants have changed are noticed, and
// that another clock is no change.
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
