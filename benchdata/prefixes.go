package benchdata

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// PrefixRepetition is vLLM's "prefix_repetition" workload: a few prefixes, each
// the beginning of equally many prompts, which go on in words of their own, in
// random order (prefix_repetition.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets). The
// text is random words, as in [Prompts].
type PrefixRepetition struct {
	// Prefixes is how many different prefixes there are; 0 means 10.
	Prefixes int
	// Prefix, Suffix and Output are the lengths of a prefix, of what comes
	// after it and of every answer, in tokens; 0 means 256, 256 and 128.
	Prefix, Suffix, Output int
	// InOrder does not shuffle: all prompts of a prefix come together.
	InOrder bool
	// Seed picks the words and the order.
	Seed uint64
	// Template is how many tokens the server adds to each prompt: the suffix is
	// so much shorter. It must be less.
	Template int
	// Tokenizer counts the tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests, less what is left of n after dividing it by the
// prefixes, as vLLM does, with FixedOutput set. It returns an error when n is
// less than Prefixes, or a field is out of range.
func (p PrefixRepetition) Requests(n int) ([]llmbench.Request, error) {
	setDefault(&p.Prefixes, 10)
	setDefault(&p.Prefix, 256)
	setDefault(&p.Suffix, 256)
	setDefault(&p.Output, 128)
	switch {
	case p.Prefixes < 1 || p.Prefix < 1 || p.Suffix < 1 || p.Output < 1 || p.Prefix > mostTokens || p.Suffix > mostTokens:
		return nil, fmt.Errorf("prefix repetition: fields Prefixes, Prefix, Suffix and Output are %d, %d, %d and %d, must be at least 1, and Prefix and Suffix at most %d",
			p.Prefixes, p.Prefix, p.Suffix, p.Output, mostTokens)
	case n < p.Prefixes:
		return nil, fmt.Errorf("prefix repetition: %d requests, must be at least as many as the %d Prefixes", n, p.Prefixes)
	case p.Template < 0 || p.Template >= p.Suffix:
		return nil, fmt.Errorf("prefix repetition: field Template is %d tokens, must be from 0 to %d (less than Suffix)", p.Template, p.Suffix-1)
	}
	g := groups{seed: p.Seed, ordered: p.InOrder, tok: orWords(p.Tokenizer), output: func(*rand.Rand) int { return p.Output }}
	each := n / p.Prefixes
	for range p.Prefixes {
		g.add(p.Prefix, each, func(*rand.Rand) int { return p.Suffix - p.Template }, "")
	}
	requests, err := g.requests(p.Template)
	if err != nil {
		return nil, fmt.Errorf("prefix repetition: %w", err)
	}
	return requests, nil
}

// SharedPrefix is SGLang's "generated-shared-prefix" workload: groups of
// prompts, each group with a system prompt of its own and, after an empty line,
// a question, in random order (generated_shared_prefix.py in
// https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets).
// Lengths may be drawn from a range, as in [Random] by SGLang's rules.
//
// The text is random words, as in [Prompts], where SGLang has random tokens of
// the vocabulary, whose number it does not correct: here it is exact. The whole
// prompt is one message, as there.
type SharedPrefix struct {
	// PerGroup is how many prompts a group has; 0 means 16. SGLang's default of
	// 64 groups is 1,024 requests.
	PerGroup int
	// System, Question and Output are the lengths of a system prompt, of a
	// question and of its answer, in tokens; 0 means 2,048, 128 and 256.
	System, Question, Output int
	// Ratio is SGLang's --gsp-range-ratio: lengths are drawn from Ratio of them
	// to the whole. 0 means 1: they are as they stand.
	Ratio float64
	// InOrder does not shuffle: all prompts of a group come together.
	InOrder bool
	// Seed picks the words, the lengths and the order.
	Seed uint64
	// Template is how many tokens the server adds to each prompt: the question
	// is so much shorter, but no shorter than one token.
	Template int
	// Tokenizer counts the tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests, of as many groups as they need, with FixedOutput
// set. Only the last group has fewer than PerGroup. It returns an error when n
// or a field is out of range.
func (p SharedPrefix) Requests(n int) ([]llmbench.Request, error) {
	setDefault(&p.PerGroup, 16)
	setDefault(&p.System, 2048)
	setDefault(&p.Question, 128)
	setDefault(&p.Output, 256)
	if p.Ratio == 0 {
		p.Ratio = 1
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("shared prefix: %d requests, must be at least 1", n)
	case p.PerGroup < 1 || p.System < 1 || p.Question < 1 || p.Output < 1 || p.System > mostTokens || p.Question > mostTokens:
		return nil, fmt.Errorf("shared prefix: fields PerGroup, System, Question and Output are %d, %d, %d and %d, must be at least 1, and System and Question at most %d",
			p.PerGroup, p.System, p.Question, p.Output, mostTokens)
	case !(p.Ratio > 0 && p.Ratio <= 1):
		return nil, fmt.Errorf("shared prefix: field Ratio is %v, must be above 0 to 1, or 0 for 1", p.Ratio)
	case p.Template < 0:
		return nil, fmt.Errorf("shared prefix: field Template is %d tokens, must be at least 0", p.Template)
	}
	drawn := func(full int) func(*rand.Rand) int { return lengths{SGLang, full, p.Ratio}.draw }
	question := drawn(p.Question)
	g := groups{seed: p.Seed, ordered: p.InOrder, tok: orWords(p.Tokenizer), output: drawn(p.Output)}
	system := rand.New(rand.NewPCG(p.Seed, 4))
	for left := n; left > 0; left -= p.PerGroup {
		g.add(drawn(p.System)(system), min(left, p.PerGroup), func(r *rand.Rand) int { return max(question(r)-p.Template, 1) }, "\n\n")
	}
	requests, err := g.requests(p.Template)
	if err != nil {
		return nil, fmt.Errorf("shared prefix: %w", err)
	}
	return requests, nil
}

// groups are prompts that have their beginnings in common.
type groups struct {
	seed    uint64
	ordered bool
	tok     llmbench.Tokenizer
	output  func(*rand.Rand) int // draws the length of an answer
	all     []group
}

type group struct {
	prefix, prompts int                  // tokens, and how many prompts
	suffix          func(*rand.Rand) int // draws a length
	between         string               // prefix and suffix
}

func (g *groups) add(prefix, prompts int, suffix func(*rand.Rand) int, between string) {
	g.all = append(g.all, group{prefix, prompts, suffix, between})
}

// requests makes all prompts. No two prefixes begin alike, nor do two suffixes.
func (g *groups) requests(template int) ([]llmbench.Request, error) {
	fit := newFitter(g.tok)
	u := newUnlike(g.seed)
	random := rand.New(rand.NewPCG(g.seed, 5))
	var requests []llmbench.Request
	texts := 0
	for i, group := range g.all {
		head, err := u.text(fit, "", texts, group.prefix)
		if err != nil {
			return nil, fmt.Errorf("prefix %d: %w", i, err)
		}
		texts++
		for range group.prompts {
			tokens := group.prefix + group.suffix(random)
			prompt, err := u.text(fit, head+group.between, texts, tokens)
			if err != nil {
				return nil, fmt.Errorf("request %d: %w", len(requests), err)
			}
			texts++
			requests = append(requests, llmbench.Request{
				Prompt:       prompt,
				MaxTokens:    g.output(random),
				FixedOutput:  true,
				PromptTokens: tokens + template,
			})
		}
	}
	if !g.ordered {
		random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	}
	return requests, nil
}
