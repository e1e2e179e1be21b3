package benchdata

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Prompts is the workload "random": common English words in random order. All prompts
// have exactly the same length, and all answers too.
//
// No two prompts have a common prefix, so a server's prefix cache does not help. (Caches
// compare whole leading blocks of 16 or more tokens, see
// https://docs.vllm.ai/en/latest/design/prefix_caching/.) Of 1,000 consecutive requests, no two
// have the same first word. Of a million, no two have the same first two words. Another seed
// gives other words. All prompts have in common only the first SharedPrefix tokens and the
// text that the server adds before the prompt.
//
// Requests(n) returns the first n requests of Requests(n+1).
type Prompts struct {
	// Input is the length of each prompt in tokens; at least 1.
	Input int
	// Output is the length of each answer in tokens; at least 1.
	Output int
	// Seed and Salt determine the words. Two runs on the same server need different seeds or
	// salts. Otherwise the server finds the prompts of the second run in its prefix cache: see
	// [llmbench.Target.Salt].
	Seed, Salt uint64
	// SharedPrefix is the number of tokens at the beginning that are the same in all
	// prompts, from 0 to Input - Template - 1. The next word is different in each prompt.
	SharedPrefix int
	// Template is the number of tokens that the server adds to the prompt (chat template,
	// begin-of-text), from 0 to Input - 1. Input includes them.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words]. If the tokenizer has a method
	// Tolerance() int, as [tokenizer.Estimate] has, the length of a prompt may differ from
	// Input by up to Tolerance() tokens.
	Tokenizer llmbench.Tokenizer
}

// openingWords is the number of words at the beginning of a text that make the text different
// from all others. The words after them are random.
const openingWords = 2

// Requests returns n requests. Their MaxTokens is Output, their PromptTokens is Input, and
// FixedOutput is true. Requests returns an error if n or a field is out of range, or if it
// finds no text for which the tokenizer counts the wanted length.
func (p Prompts) Requests(n int) ([]llmbench.Request, error) {
	if err := p.check(n); err != nil {
		return nil, err
	}
	requests := make([]llmbench.Request, n)
	for i := range requests {
		requests[i] = llmbench.Request{MaxTokens: p.Output, FixedOutput: true, PromptTokens: p.Input}
	}
	if err := fill(requests, p.SharedPrefix, p.Template, saltedSeed(p.Seed, p.Salt), newFitter(orWords(p.Tokenizer))); err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	return requests, nil
}

// fill sets the prompts of requests to texts of fit. The length of a prompt is the PromptTokens of its request, which
// include template tokens that the server adds. The first prefix tokens are the same in all prompts.
func fill(requests []llmbench.Request, prefix, template int, seed uint64, fit *fitter) error {
	distinct := newDistinctTexts(seed)
	var head string
	if prefix > 0 {
		var err error
		if head, err = fit.text("", nil, prefix, distinct.random); err != nil {
			return fmt.Errorf("the common prefix: %w", err)
		}
	}
	return forEach(fit.tok, len(requests), func(i int) (err error) {
		r := &requests[i]
		if r.Prompt = head; r.PromptTokens-template > prefix {
			if r.Prompt, err = distinct.text(fit, head, i, r.PromptTokens-template); err != nil {
				err = fmt.Errorf("request %d: %w", i, err)
			}
		}
		return err
	})
}

// distinctTexts makes texts that all begin differently.
type distinctTexts struct {
	seed          uint64
	random        *rand.Rand
	first, second []int // indexes into wordList in random order, for the first and the second word
}

func newDistinctTexts(seed uint64) *distinctTexts {
	d := &distinctTexts{seed: seed, random: rand.New(rand.NewPCG(seed, 0))}
	d.first, d.second = d.random.Perm(len(wordList)), d.random.Perm(len(wordList))
	return d
}

// text returns text i. It begins with head and has the given number of tokens, including
// head's. The first words after head are different for each i.
func (d *distinctTexts) text(fit *fitter, head string, i, tokens int) (string, error) {
	// The first word depends on i modulo the length of the list. The second word also
	// depends on the quotient. So a pair of words occurs again only after a million texts.
	turn, index := i/len(wordList), i%len(wordList)
	opening := [openingWords]string{
		wordList[d.first[index]],
		wordList[d.second[(turn+index)%len(wordList)]],
	}
	return fit.text(head, opening[:], tokens, seeded(d.seed, uint64(i)))
}

// seeded returns a random source for each i. A PCG has two seed words. The odd multiplier makes the
// second word very different for neighboring i.
func seeded(seed, i uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, (i+1)*0x9e3779b97f4a7c15))
}

// check returns an error that names the first field that is out of range.
func (p Prompts) check(n int) error {
	switch text := p.Input - p.Template; {
	case n < 1:
		return fmt.Errorf("prompts: %d requests: want at least 1", n)
	case p.Input < 1:
		return fmt.Errorf("prompts: Input is %d tokens: want at least 1", p.Input)
	case p.Output < 1:
		return fmt.Errorf("prompts: Output is %d tokens: want at least 1", p.Output)
	case p.Template < 0 || text < 1:
		return fmt.Errorf("prompts: Template is %d tokens: want from 0 to %d (less than Input)", p.Template, p.Input-1)
	case p.SharedPrefix < 0 || p.SharedPrefix >= text:
		return fmt.Errorf("prompts: SharedPrefix is %d tokens: want from 0 to %d (less than Input - Template)", p.SharedPrefix, text-1)
	}
	return nil
}
