package llamatest

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Ask sends a request for a streamed answer of exactly the given number of tokens to target, which must be
// a real llama-server, and returns the sample. It fails tb if the request fails, or if the answer or the
// server's token counts differ from the request.
func Ask(tb testing.TB, target llmbench.Target, tokens int) sample.Sample {
	tb.Helper()
	s := llmbench.Do(tb.Context(), target, llmbench.Request{Prompt: "Tell me about the sea.", MaxTokens: tokens, FixedOutput: true}, true)
	assert.NilError(tb, s.Err)
	assert.Equal(tb, s.OutputTokens, tokens)
	assert.Equal(tb, s.TokenSource, sample.FromUsage)
	assert.Equal(tb, s.Finish, "length")
	assert.Assert(tb, s.PromptTokens > 0 && s.Deltas > 0 && s.Deltas <= tokens, "%+v", s)
	assert.Equal(tb, s.Server.OutputTokens, tokens, "the server's own timings")
	assert.Equal(tb, s.Server.PromptTokens+s.Server.CachedTokens, s.PromptTokens, "the server's own timings")
	return s
}
