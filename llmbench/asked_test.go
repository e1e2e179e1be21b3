package llmbench

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAsked checks that samples hold the lengths that their requests asked for.
func TestAsked(t *testing.T) {
	_, target := loopback(t, mockserver.Config{})
	for _, fixed := range []bool{false, true} {
		samples := onePass(t, target, Load{Concurrency: 1, Requests: []Request{{
			Prompt: "a b", MaxTokens: 3, FixedOutput: fixed, PromptTokens: 7,
			Then: []Turn{{Prompt: "c", MaxTokens: 4, FixedOutput: !fixed}},
		}}})
		assert.Equal(t, samples[0].AskedTokens, 7)
		assert.Equal(t, samples[0].MaxTokens, 3)
		assert.Equal(t, samples[0].FixedOutput, fixed)
		assert.Equal(t, samples[1].AskedTokens, 0)
		assert.Equal(t, samples[1].MaxTokens, 4)
		assert.Equal(t, samples[1].FixedOutput, !fixed)
	}
}
