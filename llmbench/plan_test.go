package llmbench

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestBuiltAhead checks that a pass of many requests sends all of them in order, and builds only a limited
// number of bodies ahead.
func TestBuiltAhead(t *testing.T) {
	const n = maxWaiting + 57
	for _, l := range []Load{{Concurrency: 3}, {Arrivals: arrivals.Constant{Rate: 1000}, MaxInFlight: 3}} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := mockserver.New(mockserver.Config{TTFT: 2 * ms})
			assert.NilError(t, err)
			target, stop := inMemory(t, srv)
			defer stop()
			l.Requests = words(n, 1)
			c, checked, pl, err := prepared(target, l)
			assert.NilError(t, err)
			defer c.Close()
			assert.Equal(t, pl.ahead(n), maxWaiting)
			var built, most atomic.Int64
			build := pl.build
			pl.build = func(i int) send.Post {
				if ahead := built.Add(1) - int64(c.Ended()); ahead > most.Load() {
					most.Store(ahead)
				}
				return build(i)
			}
			samples, err := sendPass(t.Context(), c, checked, pl)
			assert.NilError(t, err)
			assert.Equal(t, len(samples), n)
			for i, s := range samples {
				assert.NilError(t, s.Err)
				assert.Equal(t, s.Request, i)
				if i > 0 {
					assert.Assert(t, s.Start >= samples[i-1].Start, "request %d was sent before request %d", i, i-1)
				}
			}
			// maxWaiting bodies wait. Each of three workers, the loop and the goroutine that builds bodies
			// holds one more.
			assert.Assert(t, most.Load() <= maxWaiting+5, "%d bodies were built ahead", most.Load())
		})
	}
}

// TestPlan checks how many bodies are built ahead, and that each request and turn is checked.
func TestPlan(t *testing.T) {
	long := Request{Prompt: strings.Repeat("x", 10<<20), MaxTokens: 1}
	bad := Request{Prompt: "a", MaxTokens: 0}
	for _, tt := range []struct {
		name     string
		requests []Request
		ahead    int
		samples  int
		err      string
	}{
		{"few", words(3, 1), 3, 3, ""},
		{"many", words(5000, 1), maxWaiting, 5000, ""},
		{"long ones", append(words(20, 1), long), 6, 21, ""},
		{"sessions", []Request{{Prompt: "a", MaxTokens: 1, Then: make([]Turn, 2)}}, 1, 3, "request 0: turn 1: "},
		{"the last is bad", append(words(5000, 1), bad), 0, 0, "request 5000: "},
	} {
		pl, err := newPlan(&Load{}, Target{URL: "http://server"}, tt.requests)
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err, tt.name)
			continue
		}
		assert.NilError(t, err, tt.name)
		assert.Equal(t, pl.ahead(pl.requests), tt.ahead, tt.name)
		assert.Equal(t, pl.samples, tt.samples, tt.name)
	}
}

// TestInterruptedPlan checks that, if a pass is interrupted, requests whose bodies have not been built also
// have samples, and that their bodies are not built then.
func TestInterruptedPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := mockserver.New(mockserver.Config{TTFT: ms})
		assert.NilError(t, err)
		target, stop := inMemory(t, srv)
		defer stop()
		c, l, pl, err := prepared(target, Load{Requests: words(2*maxWaiting, 1), Concurrency: 2, PassTimeout: 100 * ms})
		assert.NilError(t, err)
		defer c.Close()
		var built atomic.Int64
		build := pl.build
		pl.build = func(i int) send.Post {
			built.Add(1)
			return build(i)
		}
		samples, err := sendPass(t.Context(), c, l, pl)
		assert.NilError(t, err)
		s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{})
		assert.Equal(t, s.Requests, 2*maxWaiting)
		sent := s.Outcomes[sample.OK]
		assert.Assert(t, sent > 100 && s.Outcomes[sample.Canceled] > maxWaiting/2, "%v", s.Outcomes)
		assert.Assert(t, built.Load() <= int64(maxWaiting+sent+5), "%d bodies were built, and %d requests succeeded", built.Load(), sent)
	})
}
