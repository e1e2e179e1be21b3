package judge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCuts checks when failures are explained by a common time.
func TestCuts(t *testing.T) {
	const ms = time.Millisecond
	// stream returns an answer that began at the given instant, had a delta every gap, and ended after a time.
	stream := func(o sample.Outcome, start, gap time.Duration, deltas int, after time.Duration) sample.Sample {
		s := sample.Sample{Outcome: o, Start: start, Wrote: start + 1, Deltas: deltas, End: start + after}
		for i := range deltas {
			at := start + time.Duration(i+1)*gap
			if i == 0 {
				s.First = at
			} else {
				s.Gaps = append(s.Gaps, gap)
			}
			s.Last = at
		}
		if o != sample.OK {
			s.Err = errors.New("reason")
		}
		return s
	}
	cut := func(start, after time.Duration) sample.Sample {
		return stream(sample.Truncated, start, 5*ms, int(after/(5*ms))-2, after)
	}
	stalled := func(start time.Duration, deltas int, quiet time.Duration) sample.Sample {
		return stream(sample.Truncated, start, 5*ms, deltas, time.Duration(deltas)*5*ms+quiet)
	}
	status := func(code int, after time.Duration) sample.Sample {
		return sample.Sample{Outcome: sample.HTTP, Status: code, Wrote: 1, End: after, Err: errors.New("status")}
	}
	fine := func(after time.Duration) sample.Sample { return stream(sample.OK, 0, 5*ms, int(after/(5*ms)), after) }
	for _, tt := range []struct {
		name    string
		samples []sample.Sample
		want    string // after the error of the first request
	}{
		{"four at one time", []sample.Sample{cut(0, 2000*ms), cut(100*ms, 2003*ms), cut(900*ms, 2009*ms), cut(3000*ms, 2001*ms), fine(1900 * ms)},
			" after 2.00 s and 398 deltas; all four between 2.00 and 2.01 s: a timeout of something between?"},
		{"exactly one time", []sample.Sample{cut(0, 1500*ms), cut(40*ms, 1501*ms)}, " after 1.50 s and 298 deltas; both after 1.50 s: a timeout of something between?"},
		{"below a second", []sample.Sample{cut(0, 300*ms), cut(40*ms, 304*ms), cut(90*ms, 302*ms)}, " after 0.300 s and 58 deltas; all three between 0.300 and 0.304 s: a timeout of something between?"},
		{"most of them", []sample.Sample{cut(0, 2000*ms), cut(0, 2003*ms), cut(0, 2009*ms), cut(0, 700*ms)},
			" after 2.00 s and 398 deltas; 3 of 4 between 2.00 and 2.01 s: a timeout of something between?"},
		{"different times", []sample.Sample{cut(0, 2000*ms), cut(0, 1500*ms), cut(0, 900*ms), cut(0, 350*ms)}, " after 2.00 s and 398 deltas"},
		{"half of them", []sample.Sample{cut(0, 2000*ms), cut(0, 2003*ms), cut(0, 900*ms), cut(0, 350*ms)}, " after 2.00 s and 398 deltas"},
		{"one", []sample.Sample{cut(0, 2000*ms), fine(100 * ms)}, " after 2.00 s and 398 deltas"},
		{"another request took longer", []sample.Sample{cut(0, 500*ms), cut(100*ms, 501*ms), cut(300*ms, 502*ms), fine(900 * ms)}, " after 0.500 s and 98 deltas"},
		{"too soon", []sample.Sample{cut(0, 30*ms), cut(100*ms, 31*ms)}, " after 0.030 s and 4 deltas"},
		{"silent for one time", []sample.Sample{stalled(0, 10, 1000*ms), stalled(10*ms, 70, 1002*ms), stalled(20*ms, 150, 1005*ms), fine(3000 * ms)},
			" after 1.05 s and 10 deltas; all three 1.00 s after the last delta: an idle timeout of something between?"},
		{"no answer in time", []sample.Sample{status(504, 1000*ms), status(504, 1001*ms), status(504, 1002*ms), fine(400 * ms)}, "; all three after 1.00 s: a timeout of something between?"},
		{"refused at once", []sample.Sample{status(503, ms), status(503, ms), status(503, 2*ms)}, ""},
		{"refused as wrong", []sample.Sample{status(400, 500*ms), status(400, 501*ms)}, ""},
		{"the server has ended", []sample.Sample{cut(0, 2000*ms), cut(0, 2000*ms), stream(sample.Connect, 2010*ms, 0, 0, 0)}, " after 2.00 s and 398 deltas"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.samples {
				if s := &tt.samples[i]; s.Outcome == sample.Connect {
					s.Wrote = 0
				}
			}
			text := TooManyFailed(sample.All(tt.samples...), Tolerated{})
			first := strings.Split(text, "\n")[1]
			_, after, _ := strings.Cut(strings.Replace(first, "status", "reason", 1), ": reason")
			assert.Equal(t, after, tt.want, text)
		})
	}
}
