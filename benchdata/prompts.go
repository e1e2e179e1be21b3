package benchdata

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Prompts is the "random" workload: prompts of one exact length, made of
// common English words in random order, each answered with one exact length.
//
// No two requests begin alike, so a server's prefix cache has nothing to
// reuse. (Caches compare whole leading blocks of 16 or more tokens, as vLLM's
// does: https://docs.vllm.ai/en/latest/design/prefix_caching/.) The first
// word is different in any 1,000 requests in a row, the first two words in any
// million; another seed begins with other words. Only what the server itself
// puts before the prompt is common, and the first SharedPrefix tokens.
//
// The same fields give the same prompts on every machine, and Requests(n) is
// the beginning of Requests(n+1).
type Prompts struct {
	// Input is the length of each prompt in tokens, at least 1.
	Input int
	// Output is the length of each answer in tokens, at least 1.
	Output int
	// Seed picks the words. Two runs against one server need two seeds, or
	// the second finds its prompts in the cache.
	Seed uint64
	// SharedPrefix is how many tokens at the beginning of the prompt are the
	// same in all requests, from 0 to Input - Template - 1. The requests
	// differ from the next word on.
	SharedPrefix int
	// Template is how many of the Input tokens the server adds by itself
	// (chat template, begin-of-text), from 0 to Input - 1: the text is so
	// much shorter. 0 makes the text alone Input tokens.
	Template int
	// Tokenizer counts the tokens; nil means [tokenizer.Words]. When it is an
	// [tokenizer.Estimate], or has a method Tolerance() int, a prompt may be off by
	// that many tokens.
	Tokenizer llmbench.Tokenizer
}

// openingWords is how many words at the beginning of a prompt make it unlike
// all others; the words after them are random.
const openingWords = 2

// Requests returns n requests, with FixedOutput set, MaxTokens Output and
// PromptTokens Input. It returns an error when n is less than 1, when a field
// is out of its range, or when no prompt of that length could be found, which
// takes a tokenizer that skips numbers.
func (p Prompts) Requests(n int) ([]llmbench.Request, error) {
	if err := p.check(n); err != nil {
		return nil, err
	}
	fit := newFitter(orWords(p.Tokenizer))
	unlike := newUnlike(p.Seed)

	var prefix string
	if p.SharedPrefix > 0 {
		var err error
		if prefix, err = fit.text("", nil, p.SharedPrefix, unlike.shuffled); err != nil {
			return nil, fmt.Errorf("prompts: SharedPrefix: %w", err)
		}
	}

	requests := make([]llmbench.Request, n)
	err := each(fit.tok, n, func(i int) error {
		prompt, err := unlike.text(fit, prefix, i, p.Input-p.Template)
		if err != nil {
			return fmt.Errorf("prompts: request %d: %w", i, err)
		}
		requests[i] = llmbench.Request{
			Prompt:       prompt,
			MaxTokens:    p.Output,
			FixedOutput:  true,
			PromptTokens: p.Input,
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return requests, nil
}

// unlike makes texts no two of which begin alike.
type unlike struct {
	seed          uint64
	shuffled      *rand.Rand
	first, second []int // places in the list of words
}

func newUnlike(seed uint64) *unlike {
	u := &unlike{seed: seed, shuffled: rand.New(rand.NewPCG(seed, 0))}
	u.first, u.second = u.shuffled.Perm(len(wordList)), u.shuffled.Perm(len(wordList))
	return u
}

// text returns the i-th text, of so many tokens, head among them.
func (u *unlike) text(fit *fitter, head string, i, tokens int) (string, error) {
	// first is a function of i modulo the list; second, given first, of
	// the rest of i: the pair comes back after a million requests.
	turn, place := i/len(wordList), i%len(wordList)
	opening := [openingWords]string{
		wordList[u.first[place]],
		wordList[u.second[(turn+place)%len(wordList)]],
	}
	return fit.text(head, opening[:], tokens, seeded(u.seed, uint64(i)))
}

// seeded is the i-th random stream of a seed. The odd multiplier spreads
// neighbouring i over the whole second word.
func seeded(seed, i uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, (i+1)*0x9e3779b97f4a7c15))
}

// check returns an error that names the first field out of range.
func (p Prompts) check(n int) error {
	switch text := p.Input - p.Template; {
	case n < 1:
		return fmt.Errorf("prompts: %d requests, must be at least 1", n)
	case p.Input < 1:
		return fmt.Errorf("prompts: Input is %d tokens, must be at least 1", p.Input)
	case p.Output < 1:
		return fmt.Errorf("prompts: Output is %d tokens, must be at least 1", p.Output)
	case p.Template < 0 || text < 1:
		return fmt.Errorf("prompts: Template is %d tokens, must be from 0 to %d (less than Input)", p.Template, p.Input-1)
	case p.SharedPrefix < 0 || p.SharedPrefix >= text:
		return fmt.Errorf("prompts: SharedPrefix is %d tokens, must be from 0 to %d (less than Input - Template)", p.SharedPrefix, text-1)
	}
	return nil
}
