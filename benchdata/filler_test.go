package benchdata

import (
	"math"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

// everyThird is a tokenizer that counts three words as two tokens.
type everyThird struct{}

func (everyThird) Count(text string) int { return len(strings.Fields(text)) * 2 / 3 }

func TestFiller(t *testing.T) {
	requests, err := Filler{Input: 512, Output: 200, Seed: 1}.Requests(100)
	assert.NilError(t, err)
	begin := map[string]bool{}
	for _, r := range requests {
		assert.Equal(t, tokenizer.Words{}.Count(r.Prompt), 512)
		assert.Equal(t, r.PromptTokens, 512)
		assert.Equal(t, r.MaxTokens, 200)
		assert.Assert(t, !r.FixedOutput)
		assert.Assert(t, strings.HasSuffix(r.Prompt, "again "+fillerRequest), r.Prompt)
		begin[r.Prompt[:2*fillerLetters]] = true
	}
	assert.Equal(t, len(begin), 100)
	some, err := Filler{Input: 512, Output: 200, Seed: 1}.Requests(3)
	assert.NilError(t, err)
	assert.DeepEqual(t, some, requests[:3])
	other, err := Filler{Input: 512, Output: 200, Seed: 2}.Requests(1)
	assert.NilError(t, err)
	assert.Assert(t, !begin[other[0].Prompt[:2*fillerLetters]])

	rough, err := Filler{Input: 101, Template: 30, Output: 1, Tokenizer: everyThird{}}.Requests(1)
	assert.NilError(t, err)
	assert.Equal(t, everyThird{}.Count(rough[0].Prompt), 71)
	assert.Equal(t, rough[0].PromptTokens, 101)

	for _, f := range []Filler{{Output: 1}, {Input: 512}, {Input: 512, Output: 1, Template: -1}, {Input: 20, Output: 1},
		{Input: 512, Output: 1, Template: 500}, {Input: 512, Output: 1, Tokenizer: nothing{}}} {
		_, err := f.Requests(1)
		assert.ErrorContains(t, err, "filler: ")
	}
	_, err = Filler{Input: math.MaxInt32, Output: 1}.Requests(0)
	assert.Error(t, err, "filler: 0 requests: want at least 1")
}
