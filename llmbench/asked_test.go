package llmbench

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestPostAskedTokens checks that a post has the prompt length that its request
// was meant to have.
func TestPostAskedTokens(t *testing.T) {
	posts, err := newPosts(new(Load), Target{}, []Request{{Prompt: "a b", MaxTokens: 1, PromptTokens: 7}})
	assert.NilError(t, err)
	assert.Equal(t, posts[0].promptTokens, 7)
}

// TestCachedPrompts checks that prompts from the server's cache are logged if they are more
// than 10 % of the prompts' tokens.
func TestCachedPrompts(t *testing.T) {
	for _, c := range []struct {
		cached int // of 10 prompt tokens in one of two requests
		want   []string
	}{
		{0, nil},
		{2, nil},
		{3, []string{"the server took 15% of the prompts' tokens from its cache, which shortens the TTFT: prompts have a common beginning, or were sent before"}},
	} {
		cached := answered(5)
		cached.CachedTokens = c.cached
		samples := []sample.Sample{answered(5), cached}
		assert.DeepEqual(t, notes(sample.Summarize(samples, time.Second, sample.SLO{}), samples), c.want)
	}
	unit := sample.Named("cached-%")[0]
	assert.Assert(t, unit.Core)
	assert.Equal(t, unit.Line(), "Unit cached-% better=higher same=5")
}

// TestShortAnswers checks that answers shorter than 95 % of what was asked are logged, and
// that others are not.
func TestShortAnswers(t *testing.T) {
	for _, c := range []struct {
		asked, output int
		want          []string
	}{
		{683, 46, []string{"answers are shorter than asked: mean 46 of 683 output tokens; figures depend on the length"}},
		{683, 683, nil},
		{100, 95, nil},
		{100, 94, []string{"answers are shorter than asked: mean 94 of 100 output tokens; figures depend on the length"}},
		{0, 46, nil}, // not known
	} {
		s := answered(c.output)
		s.MaxTokens, s.Streamed = c.asked, true
		samples := []sample.Sample{s, s}
		got := notes(sample.Summarize(samples, time.Second, sample.SLO{}), samples)
		assert.DeepEqual(t, got, c.want)
	}
}
