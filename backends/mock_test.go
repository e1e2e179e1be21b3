package backends_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

// TestMockProfiles serves a request with each profile that LLMBENCH_MOCK can name.
func TestMockProfiles(t *testing.T) {
	names := profiles.Names()
	assert.Assert(t, len(names) > 20, "%q", names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := backends.ParseConfig([]string{"LLMBENCH_MOCK=" + name, "LLMBENCH_MOCK_SPEED=1000"})
			assert.NilError(t, err)
			all, err := backends.FromConfig(c)
			assert.NilError(t, err)
			assert.Equal(t, len(all), 1)
			target := all[0].Start(t)
			assert.Equal(t, target.Config["mock-profile"], name)
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "one two three", MaxTokens: 5, FixedOutput: true}, true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.OutputTokens, 5)
			assert.Equal(t, s.PromptTokens, 3)
		})
	}
}
