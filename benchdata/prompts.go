package benchdata

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Prompts is the workload "random": common English words in random order. All prompts
// have the same exact length, and all answers too.
//
// No two prompts have a common prefix, so that a server's prefix cache does not
// apply. (Caches compare whole leading blocks of 16 or more tokens, see
// https://docs.vllm.ai/en/latest/design/prefix_caching/.) In 1,000 consecutive
// requests all first words differ, and in a million the first two words. Another seed
// has other words. Common to all prompts are the first SharedPrefix tokens, and the
// text that the server adds before the prompt.
//
// Requests(n) returns the first n requests of Requests(n+1).
type Prompts struct {
	// Input is the length of each prompt in tokens; at least 1.
	Input int
	// Output is the length of each answer in tokens; at least 1.
	Output int
	// Seed and Salt determine the words. Two runs against one server need different
	// seeds or salts, or the second run finds its prompts in the server's prefix
	// cache: see [llmbench.Target.Salt].
	Seed, Salt uint64
	// SharedPrefix is the number of tokens at the beginning that all prompts have in
	// common, from 0 to Input - Template - 1. The next word differs.
	SharedPrefix int
	// Template is the number of the Input tokens that the server adds (chat
	// template, begin-of-text), from 0 to Input - 1. The text is shorter by Template.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words]. If it has a method
	// Tolerance() int, as [tokenizer.Estimate] has, the length of a prompt may differ
	// from Input by that many tokens.
	Tokenizer llmbench.Tokenizer
}

// openingWords is the number of words at the beginning of a text that distinguish
// the text from all others. The words after them are random.
const openingWords = 2

// Requests returns n requests with FixedOutput set, MaxTokens Output and PromptTokens
// Input. It returns an error if n or a field is out of range, or if it finds no prompt
// of that length because no text of that length exists for the tokenizer.
func (p Prompts) Requests(n int) ([]llmbench.Request, error) {
	if err := p.check(n); err != nil {
		return nil, err
	}
	fit := newFitter(orWords(p.Tokenizer))
	distinct := newDistinctTexts(saltedSeed(p.Seed, p.Salt))

	var prefix string
	if p.SharedPrefix > 0 {
		var err error
		if prefix, err = fit.text("", nil, p.SharedPrefix, distinct.random); err != nil {
			return nil, fmt.Errorf("prompts: SharedPrefix: %w", err)
		}
	}

	requests := make([]llmbench.Request, n)
	err := forEach(fit.tok, n, func(i int) error {
		prompt, err := distinct.text(fit, prefix, i, p.Input-p.Template)
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

// distinctTexts makes texts without a common beginning.
type distinctTexts struct {
	seed          uint64
	random        *rand.Rand
	first, second []int // indexes of wordList in random order
}

func newDistinctTexts(seed uint64) *distinctTexts {
	d := &distinctTexts{seed: seed, random: rand.New(rand.NewPCG(seed, 0))}
	d.first, d.second = d.random.Perm(len(wordList)), d.random.Perm(len(wordList))
	return d
}

// text returns the i-th text. It has that number of tokens, head included, and its
// words after head differ from the words of other texts.
func (d *distinctTexts) text(fit *fitter, head string, i, tokens int) (string, error) {
	// The first word depends on i modulo the length of the list, and the second also
	// on the quotient, so that a pair of words recurs after a million texts.
	turn, index := i/len(wordList), i%len(wordList)
	opening := [openingWords]string{
		wordList[d.first[index]],
		wordList[d.second[(turn+index)%len(wordList)]],
	}
	return fit.text(head, opening[:], tokens, seeded(d.seed, uint64(i)))
}

// seeded returns the i-th random source of a seed. The odd multiplier gives
// neighboring i very different second words.
func seeded(seed, i uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, (i+1)*0x9e3779b97f4a7c15))
}

// check returns an error that names the first field that is out of range.
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
