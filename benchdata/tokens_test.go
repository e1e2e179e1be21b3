package benchdata

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

// loadTokenizer returns a tokenizer from the test data of package tokenizer.
func loadTokenizer(t testing.TB, name string) *tokenizer.HuggingFace {
	t.Helper()
	tok, err := tokenizer.LoadHuggingFace("tokenizer/testdata/" + name + ".json")
	assert.NilError(t, err)
	return tok
}

// failing is a tokenizer that counts the words of a given number of texts. After that it has an
// error, like a [tokenizer.Server].
type failing struct{ left atomic.Int64 }

var errFailing = errors.New("the tokenizer failed")

func (f *failing) Count(text string) int {
	f.left.Add(-1)
	return tokenizer.Words{}.Count(text)
}

func (f *failing) Err() error {
	if f.left.Load() < 0 {
		return errFailing
	}
	return nil
}

func (f *failing) AtOnce() int { return 4 }

// TestTokenizerErrors checks that every data set returns the tokenizer's error
// instead of requests whose lengths are wrong.
func TestTokenizerErrors(t *testing.T) {
	for _, answers := range []int64{0, 1, 5, 38} {
		for name, spec := range specs(t) {
			tok := new(failing)
			tok.left.Store(answers)
			w, err := Open(spec, Options{Tokenizer: tok, Seed: 1})
			assert.NilError(t, err)
			requests, err := w.Requests(20)
			if tok.Err() == nil { // the data set needs no more counts
				assert.NilError(t, err, "%s", name)
				continue
			}
			assert.ErrorIs(t, err, errFailing, "%s", name)
			assert.Assert(t, requests == nil, "%s", name)
		}
	}
}

// TestTokenizerAtOnce checks that requests are the same if the tokenizer counts several texts at
// once.
func TestTokenizerAtOnce(t *testing.T) {
	atOnce := new(failing)
	atOnce.left.Store(math.MaxInt64)
	want, err := Prompts{Input: 100, Output: 1}.Requests(50)
	assert.NilError(t, err)
	got, err := Prompts{Input: 100, Output: 1, Tokenizer: atOnce}.Requests(50)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, want)
}

// TestEstimateReachesLength simulates a server that counts 1.37 tokens for each word and adds 9. It
// checks that prompts made with an Estimate have exact lengths by the server's count.
func TestEstimateReachesLength(t *testing.T) {
	server := func(prompt string) int { return 9 + int(math.Ceil(1.37*float64(tokenizer.Words{}.Count(prompt)))) }
	var points []tokenizer.Point
	for _, words := range []int{20, 200, 900} {
		requests, err := Prompts{Input: words, Output: 1}.Requests(1)
		assert.NilError(t, err)
		points = append(points, tokenizer.Point{Text: requests[0].Prompt, PromptTokens: server(requests[0].Prompt)})
	}
	est, err := tokenizer.Calibrate(points)
	assert.NilError(t, err)
	for _, want := range []int{64, 512, 777, 2048} {
		requests, err := Prompts{Input: want, Output: 1, Tokenizer: est, Template: est.Template()}.Requests(3)
		assert.NilError(t, err)
		for _, r := range requests {
			got := server(r.Prompt)
			assert.Assert(t, abs(got-want) <= est.Tolerance()+1, "the server counts %d tokens, want %d", got, want)
			assert.Equal(t, r.PromptTokens, want)
		}
	}
}

func TestWordList(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range wordList {
		assert.Assert(t, !seen[w] && len(w) >= 3 && len(w) <= 6 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "",
			"the word list has %q, want different words of three to six lower-case letters", w)
		seen[w] = true
	}
	assert.Equal(t, len(wordList), 1000)
}
