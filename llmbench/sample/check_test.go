package sample

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestCheck checks which samples contradict themselves.
func TestCheck(t *testing.T) {
	good := func() Sample {
		return Sample{ID: "a", Due: 9, Admitted: 10, Start: 12, Scheduled: true, First: 20, Last: 50, Deltas: 3, Gaps: []time.Duration{10, 20},
			End: 60, Streamed: true, Outcome: OK, OutputTokens: 3, MaxTokens: 3, TokenSource: FromUsage}
	}
	for _, tt := range []struct {
		name  string
		spoil func(s *Sample)
		want  string // "" means no error
	}{
		{"nothing", func(s *Sample) {}, ""},
		{"a gap too long", func(s *Sample) { s.Gaps[0]++ }, "gaps add up to 31ns, and the last delta came 30ns after the first"},
		{"a gap below 0", func(s *Sample) { s.Gaps[0], s.Gaps[1] = -1, 31 }, "gaps [-1ns 31ns]: want none below 0"},
		{"a gap too few", func(s *Sample) { s.Gaps = s.Gaps[:1] }, "1 gaps between 3 deltas"},
		{"sent before it was admitted", func(s *Sample) { s.Start = 9 }, "due 9ns, granted 0s, admitted 10ns, sent 9ns"},
		{"admitted before it was due", func(s *Sample) { s.Due = 11 }, "due 11ns, granted 0s, admitted 10ns"},
		{"admitted before it had its turn", func(s *Sample) { s.Granted = 11 }, "due 9ns, granted 11ns, admitted 10ns"},
		{"not scheduled", func(s *Sample) { s.Due, s.Scheduled = 12, false }, ""},
		{"ended before its last delta", func(s *Sample) { s.End = 40 }, "ended at 40ns, before its last delta at 50ns"},
		{"a failure may have", func(s *Sample) { s.End, s.Outcome = 40, Truncated }, ""},
		{"the first byte after the first delta", func(s *Sample) { s.FirstByte = 21 }, "first byte 21ns, first delta 20ns"},
		{"the first byte before the send", func(s *Sample) {
			s.Start, s.FirstByte, s.First, s.Last, s.End = time.Second, 20, time.Second, time.Second+30, time.Minute
		}, "sent 1s, first byte 20ns"},
		{"more outputs than deltas", func(s *Sample) { s.Outputs, s.FirstOutput = 4, 20 }, "4 of 3 deltas have more than reasoning"},
		{"an output before the first delta", func(s *Sample) { s.Outputs, s.FirstOutput = 1, 19 }, "the first at 19ns: want it between 20ns and 50ns"},
		{"an output after the last delta", func(s *Sample) { s.Outputs, s.FirstOutput = 1, 51 }, "the first at 51ns"},
		{"a lag too few", func(s *Sample) { s.Lags = []time.Duration{1, 1} }, "2 read lags for 3 deltas"},
		{"a delta before the send", func(s *Sample) { s.Start = time.Second }, "sent 1s, first delta 20ns"},
		{"more tokens than allowed, which is the server's affair", func(s *Sample) { s.OutputTokens = 9 }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(&s)
			err := s.Check()
			if tt.want == "" {
				assert.NilError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.want)
			}
		})
	}
}
