package benchdata

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Filler is the workload of the locust load test in fw-ai's llm_bench. Results with this
// workload were published for many servers (study A in benchdata/published). Each prompt has
// ten random letters, then one repeated word, then a request for a long program. Because of
// the letters, no two prompts have a common prefix. The model may end its answer before
// Output tokens. llm_bench uses other words.
//
// Requests(n) returns the first n requests of Requests(n+1).
type Filler struct {
	// Input is the length of each prompt in tokens. It must be at least the length of the
	// letters and the request for a program. A prompt may be shorter than Input, but by less
	// than one repeated word.
	Input int
	// Output limits each answer in tokens; at least 1.
	Output int
	// Template is the number of tokens that the server adds to the prompt (chat template,
	// begin-of-text). Input includes them.
	Template int
	// Seed and Salt determine the letters.
	Seed, Salt uint64
	// Tokenizer counts the tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

const (
	fillerLetters = 10
	fillerWord    = "again "
	fillerRequest = "Now write a Django application with users, articles and comments: models, views, templates and tests, file by file."
)

// Requests returns n requests. Their PromptTokens is the length of the prompt, counted by the
// Tokenizer, plus Template. Requests returns an error if n or a field is out of range.
func (f Filler) Requests(n int) ([]llmbench.Request, error) {
	switch {
	case n < 1:
		return nil, fmt.Errorf("filler: %d requests: want at least 1", n)
	case f.Input < 1 || f.Output < 1 || f.Template < 0:
		return nil, fmt.Errorf("filler: Input, Output and Template are %d, %d and %d tokens: want at least 1, 1 and 0", f.Input, f.Output, f.Template)
	}
	tok := orWords(f.Tokenizer)
	requests := make([]llmbench.Request, n)
	for i := range requests {
		random := rand.New(rand.NewPCG(saltedSeed(f.Seed, f.Salt), uint64(i)))
		var letters strings.Builder
		for range fillerLetters {
			letters.WriteByte(byte('a' + random.IntN(26)))
			letters.WriteByte(' ')
		}
		text := func(words int) string {
			return letters.String() + strings.Repeat(fillerWord, words) + fillerRequest
		}
		target := f.Input - f.Template
		least := tok.Count(text(0))
		if least > target {
			return nil, fmt.Errorf("filler: Input is %d tokens: want at least %d, the length of letters, request and Template", f.Input, least+f.Template)
		}
		// Search for the largest number of words that fit: low words fit, high words do not.
		low, high := 0, 1
		for tok.Count(text(high)) <= target {
			if low, high = high, 2*high; low > maxWordsPerToken*target {
				return nil, fmt.Errorf("filler: no prompt of %d tokens found: the tokenizer counts %d for %d words", target, tok.Count(text(low)), low)
			}
		}
		for high-low > 1 {
			if middle := (low + high) / 2; tok.Count(text(middle)) <= target {
				low = middle
			} else {
				high = middle
			}
		}
		prompt := text(low)
		requests[i] = llmbench.Request{Prompt: prompt, MaxTokens: f.Output, PromptTokens: tok.Count(prompt) + f.Template}
	}
	return requests, nil
}
