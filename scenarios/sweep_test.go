package scenarios

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestSweepKnee checks that the knee of a server with eight slots is at eight users.
func TestSweepKnee(t *testing.T) {
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: 8}, func(t *testing.T, target llmbench.Target) {
		w := &sweeper{points: map[int][]point{}}
		for c := 1; !w.saturated(); c *= 2 {
			requests, err := words(8*c, uint64(c))
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: c})
			assert.NilError(t, err)
			w.add(c, result, nil)
			p := w.sample(0)[len(w.loads)-1]
			assert.Equal(t, p.Throughput, float64(2*len(requests))/result.Elapsed.Seconds())
			assert.Equal(t, p.Load, float64(c))
		}
		assert.DeepEqual(t, w.loads, []int{1, 2, 4, 8, 16})
		at, err := search.Knee(plain(w.sample(0)))
		assert.NilError(t, err)
		assert.Equal(t, w.loads[at], 8)
		assert.Equal(t, len(w.sample(1)), 0)
	})
}

// TestSweepEnds checks that the sweep ends as soon as each sample of -count shows that the server
// is full, and not earlier.
func TestSweepEnds(t *testing.T) {
	at := func(load, throughput float64) point {
		return point{Point: search.Point{Load: load, Throughput: throughput, Latency: 1}}
	}
	w := &sweeper{}
	assert.Assert(t, !w.saturated())
	w = &sweeper{loads: []int{1, 2}, points: map[int][]point{1: {at(1, 10), at(1, 10)}, 2: {at(2, 10), at(2, 20)}}}
	assert.Assert(t, !w.saturated(), "throughput still rises in the second sample")
	w.loads, w.points[4] = []int{1, 2, 4}, []point{at(4, 10), at(4, 21)}
	assert.Assert(t, w.saturated())
}

// TestSweepWithheld checks when a withheld value prevents a knee. It must do so only if the bounds
// of the value leave open where the knee is. The power is 9 at two users, and 5 and 4 at the other
// loads.
func TestSweepWithheld(t *testing.T) {
	within := func(low, high float64) map[string]sample.Interval {
		return map[string]sample.Interval{"output-tok/s": {Low: low, Likely: low, High: high}, "p50-e2e-ns": {Low: 1e9, Likely: 1e9, High: 1.25e9}}
	}
	for _, tt := range []struct {
		name     string
		at       int // the concurrency at which a value is withheld
		bounds   map[string]sample.Interval
		withheld bool
		want     string // "" means that there is a knee
	}{
		{"none", 1, within(0, 100), false, ""},
		{"another one cannot be the knee", 1, within(4, 8.9), true, ""},
		{"another one may be the knee", 1, within(4, 9.1), true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound"},
		{"the knee remains one", 2, within(6.3, 9), true, ""},
		{"the knee may be no knee", 2, within(6.2, 9), true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound"},
		{"nothing is known", 1, nil, true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound"},
	} {
		w := &sweeper{points: map[int][]point{}}
		for c, throughput := range map[int]float64{1: 5, 2: 9, 4: 4} {
			p := point{Point: search.Point{Load: float64(c), Throughput: throughput, Latency: 1}}
			var withheld error
			if tt.withheld && c == tt.at {
				withheld = fmt.Errorf("p50-e2e-ns is withheld: %w", llmbench.ErrClientBound)
			}
			if c == tt.at {
				p = p.bounded(withheld, tt.bounds)
			} else {
				p = p.bounded(nil, nil)
			}
			w.points[c] = []point{p}
		}
		w.loads = []int{1, 2, 4}
		was := false // the case was skipped
		result := onePass(t, func(b *testing.B) {
			defer func() { was = b.Skipped() }()
			w.knee(b)
		})
		assert.Equal(t, was, tt.want != "", tt.name)
		_, reported := result.Extra["knee-concurrency"]
		assert.Equal(t, reported, tt.want == "", tt.name)
		err := doubt(w.sample(0), 1)
		if tt.want == "" {
			assert.NilError(t, err, tt.name)
		} else {
			assert.Error(t, err, tt.want, tt.name)
		}
	}
}
