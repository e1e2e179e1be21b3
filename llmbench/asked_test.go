package llmbench

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestPostAskedTokens checks that a post has the prompt length that its request
// was meant to have.
func TestPostAskedTokens(t *testing.T) {
	posts, err := newPosts(new(Load), Target{}, []Request{{Prompt: "a b", MaxTokens: 1, PromptTokens: 7}})
	assert.NilError(t, err)
	assert.Equal(t, posts[0].promptTokens, 7)
}
