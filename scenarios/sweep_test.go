package scenarios

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
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
		for c := 1; !w.saturated(saturationGain); c *= 2 {
			requests, err := words(8*c, uint64(c))
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: c})
			assert.NilError(t, err)
			w.add(c, result)
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

// TestSweepUnknownTokens checks that there is no knee if a server reports one token for some answers of many deltas. Their
// numbers of tokens are unknown, and the throughput without them is too low.
func TestSweepUnknownTokens(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		deltas, tokens := 2, 2
		if n.Add(1)%2 == 0 {
			deltas, tokens = 40, 1
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range deltas {
			fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		}
		fmt.Fprintf(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`+"\n\ndata: [DONE]\n\n", tokens)
	}))
	defer server.Close()
	w := &sweeper{points: map[int][]point{}}
	for _, c := range []int{1, 2} {
		requests, err := words(4*c, uint64(c))
		assert.NilError(t, err)
		result, _ := llmbench.Pass(t.Context(), "", llmbench.Target{URL: server.URL, Model: "m"}, llmbench.Load{Requests: requests, Concurrency: c})
		assert.Assert(t, result != nil)
		defer result.Close()
		w.add(c, result)
	}
	assert.ErrorContains(t, doubt(w.sample(0), 0), "output-tok/s is omitted at concurrency 1: answers whose number of tokens is unknown: 2")
}

// TestSweepEnds checks that the sweep ends as soon as each sample of -count shows that the server
// is full, and not earlier.
func TestSweepEnds(t *testing.T) {
	at := func(load, throughput float64) point {
		return point{Point: search.Point{Load: load, Throughput: throughput, Latency: 1}}
	}
	w := &sweeper{}
	assert.Assert(t, !w.saturated(saturationGain))
	w = &sweeper{loads: []int{1, 2}, points: map[int][]point{1: {at(1, 10), at(1, 10)}, 2: {at(2, 10), at(2, 20)}}}
	assert.Assert(t, !w.saturated(saturationGain), "throughput still rises in the second sample")
	w.loads, w.points[4] = []int{1, 2, 4}, []point{at(4, 10), at(4, 21)}
	assert.Assert(t, w.saturated(saturationGain))
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
		unsound  bool   // the throughput of the knee is withheld
	}{
		{"none", 1, within(0, 100), false, "", false},
		{"another one cannot be the knee", 1, within(4, 8.9), true, "", false},
		{"another one may be the knee", 1, within(4, 9.1), true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound", false},
		{"the knee remains one", 2, within(6.3, 9), true, "", false},
		{"the knee remains one, and its throughput is withheld", 2, within(6.3, 9), true, "", true},
		{"the knee may be no knee", 2, within(6.2, 9), true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound", false},
		{"nothing is known", 1, nil, true, "cannot judge: the knee may be at concurrency 2 or 1: p50-e2e-ns is withheld: client-bound", false},
	} {
		w := &sweeper{points: map[int][]point{}}
		for c, throughput := range map[int]float64{1: 5, 2: 9, 4: 4} {
			p := point{Point: search.Point{Load: float64(c), Throughput: throughput, Latency: 1}}
			var withheld error
			if tt.withheld && c == tt.at {
				withheld = fmt.Errorf("p50-e2e-ns is withheld: %w", llmbench.ErrClientBound)
			}
			if c == tt.at {
				p.withheld = withheld
				p = p.bounded(tt.bounds)
				if tt.unsound {
					p.unsound = map[string]error{"output-tok/s": llmbench.ErrClientBound}
				}
			} else {
				p = p.bounded(nil)
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
		_, hasOutput := result.Extra["knee-output-tok/s"]
		assert.Equal(t, hasOutput, tt.want == "" && !tt.unsound, tt.name)
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
