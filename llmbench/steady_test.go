package llmbench

import (
	"math"
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestSteadyAgainstLog compares the number of tokens in the steady part of a pass with the number that the
// server sent in the same interval according to its log.
func TestSteadyAgainstLog(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	requests := words(240, 1)
	for i := range requests {
		requests[i].MaxTokens = 10 + r.IntN(40)
	}
	cfg := mockserver.Config{TTFT: 50 * ms, PerToken: 7 * ms, Slots: 8}
	bubble(t, cfg, Load{Requests: requests, Concurrency: 8}, func(samples []sample.Sample, srv *mockserver.Server) {
		s := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Steady[0]
		assert.Equal(t, s.Why, "")
		log := srv.Log()
		start := log[0].Accepted - samples[0].Admitted // start of the pass on the server's clock
		sent := 0
		for _, e := range log {
			for _, at := range e.Tokens {
				if at-start >= s.Begin && at-start < s.End {
					sent++
				}
			}
		}
		assert.Assert(t, math.Abs(s.Tokens-float64(sent)) < 1e-6, "%v tokens in %+v; the server sent %d", s.Tokens, s, sent)
		// In each of 8 slots, a request takes 50 ms plus 7 ms for each token after the first. On average,
		// that is 29.5 tokens in 249.5 ms.
		assert.Assert(t, math.Abs(s.Tokens/(s.End-s.Begin).Seconds()/(8*29.5/0.2495)-1) < 0.02, "%v", s.Tokens/(s.End-s.Begin).Seconds())
	})
}
