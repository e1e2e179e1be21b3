package benchdata

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Filler is the workload of the locust load test of fw-ai's llm_bench, as it was
// published for many servers (study A of benchdata/published): ten random letters,
// so that no two prompts begin alike, one word over and over, and a request for a
// program, which models answer at length. The model may end its answer before
// Output tokens. The wording is not llm_bench's.
//
// The same fields give the same prompts on every machine, and Requests(n) is the
// beginning of Requests(n+1).
type Filler struct {
	// Input is the length of each prompt in tokens, more than the letters and the
	// request have by themselves; the prompt is at most one filler word shorter.
	Input int
	// Output limits each answer in tokens, at least 1.
	Output int
	// Template is how many of the Input tokens the server adds by itself.
	Template int
	// Seed picks the letters.
	Seed uint64
	// Tokenizer counts the tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

const (
	fillerLetters = 10
	fillerWord    = "again "
	fillerRequest = "Now write a Django application with users, articles and comments: models, views, templates and tests, file by file."
)

// Requests returns n requests, with MaxTokens Output and PromptTokens what the
// Tokenizer counts and Template. It returns an error when n or a field is out of
// range.
func (f Filler) Requests(n int) ([]llmbench.Request, error) {
	switch {
	case n < 1:
		return nil, fmt.Errorf("filler: %d requests, must be at least 1", n)
	case f.Input < 1 || f.Output < 1 || f.Template < 0:
		return nil, fmt.Errorf("filler: Input, Output and Template are %d, %d and %d tokens, must be at least 1, 1 and 0", f.Input, f.Output, f.Template)
	}
	tok := orWords(f.Tokenizer)
	requests := make([]llmbench.Request, n)
	for i := range requests {
		random := rand.New(rand.NewPCG(f.Seed, uint64(i)))
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
			return nil, fmt.Errorf("filler: Input is %d tokens, must be at least %d: letters, request and Template", f.Input, least+f.Template)
		}
		// The most words that fit: between low, which do, and high, which do not.
		low, high := 0, 1
		for tok.Count(text(high)) <= target {
			if low, high = high, 2*high; low > maxWordsPerToken*target {
				return nil, fmt.Errorf("filler: no prompt of %d tokens found: the tokenizer says %d for %d words", target, tok.Count(text(low)), low)
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
