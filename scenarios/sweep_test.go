package scenarios

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestSweepKnee checks that the knee of a server with eight slots is at eight users.
func TestSweepKnee(t *testing.T) {
	virtual(t, mockserver.Config{TTFT: 900 * time.Millisecond, PerToken: 100 * time.Millisecond, Slots: 8}, func(t *testing.T, target llmbench.Target) {
		w := &sweeper{points: map[int][]search.Point{}}
		for c := 1; !w.saturated(); c *= 2 {
			requests, err := words(8*c, uint64(c))
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: c})
			assert.NilError(t, err)
			w.add(c, result.All())
			p := w.sample(0)[len(w.loads)-1]
			assert.Equal(t, p.Throughput, float64(2*len(requests))/result.Elapsed.Seconds())
			assert.Equal(t, p.Load, float64(c))
		}
		assert.DeepEqual(t, w.loads, []int{1, 2, 4, 8, 16})
		at, err := search.Knee(w.sample(0))
		assert.NilError(t, err)
		assert.Equal(t, w.loads[at], 8)
		assert.Equal(t, len(w.sample(1)), 0)
	})
}

// TestSweepEnds checks that the sweep ends when every -count sample shows a full
// server, and no sooner.
func TestSweepEnds(t *testing.T) {
	at := func(load, throughput float64) search.Point {
		return search.Point{Load: load, Throughput: throughput, Latency: 1}
	}
	w := &sweeper{}
	assert.Assert(t, !w.saturated())
	w = &sweeper{loads: []int{1, 2}, points: map[int][]search.Point{1: {at(1, 10), at(1, 10)}, 2: {at(2, 10), at(2, 20)}}}
	assert.Assert(t, !w.saturated(), "throughput still rises in the second sample")
	w.loads, w.points[4] = []int{1, 2, 4}, []search.Point{at(4, 10), at(4, 21)}
	assert.Assert(t, w.saturated())
}

// TestSweepWithheld checks that there is no knee of figures that the client distorts.
func TestSweepWithheld(t *testing.T) {
	full := map[int][]search.Point{1: {{Load: 1, Throughput: 10, Latency: 1}}, 2: {{Load: 2, Throughput: 10, Latency: 2}}}
	for unit, skipped := range map[string]bool{"output-tok/s": true, "p50-e2e-ns": true, "p99-itl-ns": false} {
		w := &sweeper{loads: []int{1, 2}, points: full}
		w.withhold(2, []string{"req/s", unit}, llmbench.ErrClientBound)
		was := false // skipped
		result := onePass(t, func(b *testing.B) {
			defer func() { was = b.Skipped() }()
			w.knee(b)
		})
		assert.Equal(t, was, skipped, unit)
		_, reported := result.Extra["knee-concurrency"]
		assert.Equal(t, reported, !skipped, unit)
	}
}
