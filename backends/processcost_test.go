package backends

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCostOfTokens checks that the CPU time is divided by the number of tokens, not of deltas. An
// answer that is not streamed has no deltas. Failed requests do not count as served.
func TestCostOfTokens(t *testing.T) {
	c := costs{cpu: 3 * time.Second}
	figures := c.FiguresOf(sample.All(
		sample.Sample{Outcome: sample.OK, OutputTokens: 100, Deltas: 10, Outputs: 5},
		sample.Sample{Outcome: sample.OK, OutputTokens: 200},
		sample.Sample{Outcome: sample.Truncated, OutputTokens: 50, Deltas: 50, Outputs: 50},
	))
	assert.DeepEqual(t, figures, map[string]float64{cpuUnit: 10, rateUnit: 2.0 / 3})
	assert.Equal(t, len(c.FiguresOf(sample.All())), 0)
}
