package sample

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestHiddenReasoning checks that a request has no TPOT if the server counted reasoning tokens
// that it did not stream.
func TestHiddenReasoning(t *testing.T) {
	for _, c := range []struct {
		name                string
		reasoning, tokens   int // as the server reports them
		reasoned, otherwise int // numbers of deltas
		hidden              bool
	}{
		{"no reasoning", 0, 300, 0, 300, false},
		{"not streamed", 200, 300, 0, 100, true},
		{"not streamed, two tokens a delta", 200, 300, 0, 50, true},
		{"not streamed, and a delta without a token", 200, 300, 0, 101, true},
		{"streamed", 200, 300, 200, 100, false},
		{"streamed, three tokens a delta", 200, 300, 67, 34, false},
		{"streamed faster than the rest", 200, 300, 80, 100, false},
		{"streamed as a summary", 200, 300, 30, 100, true},
		{"all of it in one delta", 200, 300, 1, 100, true},
		{"streamed as text", 200, 300, 0, 300, false},
		{"not counted among the output tokens", 200, 100, 0, 100, false},
		{"not counted, and fewer", 80, 100, 0, 100, false},
		{"nothing else", 200, 200, 200, 0, false},
	} {
		s := answer(0, 100, 1000, c.reasoned+c.otherwise)
		s.Outputs, s.OutputTokens, s.ReasoningTokens = c.otherwise, c.tokens, c.reasoning
		assert.Equal(t, s.HidesReasoning(), c.hidden, c.name)
		tpot, ok := s.TPOT()
		assert.Equal(t, ok, !c.hidden, c.name)
		if ok {
			assert.Equal(t, tpot, 900*ms/time.Duration(c.tokens-1), c.name)
		}
		_, has := Summarize(All(s), time.Second, SLO{}).Metrics["mean-tpot-ns"]
		assert.Equal(t, has, !c.hidden, c.name)
	}
	s := answer(0, 100, 1000, 100)
	s.ReasoningTokens, s.TokenSource = 50, FromTokenizer // the tokenizer counts only what was streamed
	assert.Assert(t, !s.HidesReasoning())
}
