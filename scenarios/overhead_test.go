package scenarios

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestAddedCovers simulates gateways that add 0.5 ms, and counts the intervals of 95 % that contain it. What the
// requests of a pass have in common is the machine's doing.
func TestAddedCovers(t *testing.T) {
	const rounds, requests, runs = 8, 12, 600
	random := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		name string
		pass func(round int) float64 // by how many ms the requests of the next pass are slower
	}{
		{"requests are independent", func(int) float64 { return 0 }},
		{"rounds differ", func(round int) float64 { return float64(round % 3) }},
		{"passes differ", func(int) float64 { return random.NormFloat64() }},
		{"one pass in ten is slow", func(int) float64 { return 50 * max(0, random.Float64()-0.9) }},
	} {
		pass := func(arm float64) iter.Seq[*sample.Sample] {
			return func(yield func(*sample.Sample) bool) {
				s := sample.Sample{Outcome: sample.OK, Deltas: 1}
				for s.Pass = range rounds {
					slow := 10 + 0.5*arm + tt.pass(s.Pass)
					for range requests {
						s.First = time.Duration(1e6 * (slow + random.ExpFloat64()))
						yield(&s)
					}
				}
			}
		}
		hit := 0
		for range runs {
			f := added(pass(0), pass(1))
			if f["added-ttft-low-ms"] <= 0.5 && 0.5 <= f["added-ttft-high-ms"] {
				hit++
			}
		}
		covered := 100 * float64(hit) / runs
		t.Logf("%s: %.1f %%", tt.name, covered)
		assert.Check(t, covered >= 93 && covered <= 97, "%s: %.1f %%", tt.name, covered)
	}
}
