package measure

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// TestNoiseText checks that units without a margin are told.
func TestNoiseText(t *testing.T) {
	got := noiseText([]gate.UnitNoise{
		{Unit: "x/op", Better: "lower", Rows: 2, AmountNoise: 0.02, Amount: 0.03},
		{Unit: "y/op", Better: "lower", Rows: 1, None: "its noise is not known"},
	}, 6)
	assert.Equal(t, got, `# With 6 samples a side, two equal versions differ by more than the noise in one of 20 comparisons.
#   noise  rows  unit
#    0.02     2  x/op
#       -     1  y/op: no margin, because its noise is not known
# The margins are wider than the noise. Gate few units: each further unit reduces the power of the others.
Unit x/op better=lower gate=0.03
`)
}
