package benchdata

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// PrefixRepetition is vLLM's workload "prefix_repetition" (prefix_repetition.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets). There are a few
// prefixes, and each of them begins the same number of prompts. After the prefix, each prompt
// has different words. The prompts are in random order. The text is random words, as in
// [Prompts].
type PrefixRepetition struct {
	// Prefixes is the number of prefixes; 0 means 10.
	Prefixes int
	// Prefix, Suffix and Output are the lengths in tokens of a prefix, of the text
	// after the prefix, and of an answer; 0 means 256, 256 and 128.
	Prefix, Suffix, Output int
	// InOrder keeps all prompts of a prefix together instead of shuffling them.
	InOrder bool
	// Seed determines the words and the order. Salt changes the words but not the order.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. The suffix is
	// shortened by Template tokens. Template must be less than Suffix.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests with FixedOutput set. Like vLLM, it rounds n down to a multiple
// of Prefixes. It returns an error if n is less than Prefixes or a field is out of range.
func (p PrefixRepetition) Requests(n int) ([]llmbench.Request, error) {
	p.Prefixes, p.Prefix, p.Suffix, p.Output = cmp.Or(p.Prefixes, 10), cmp.Or(p.Prefix, 256), cmp.Or(p.Suffix, 256), cmp.Or(p.Output, 128)
	switch {
	case p.Prefixes < 1 || p.Prefix < 1 || p.Suffix < 1 || p.Output < 1 || p.Prefix > mostTokens || p.Suffix > mostTokens:
		return nil, fmt.Errorf("prefix repetition: fields Prefixes, Prefix, Suffix and Output are %d, %d, %d and %d: want at least 1, and Prefix and Suffix at most %d",
			p.Prefixes, p.Prefix, p.Suffix, p.Output, mostTokens)
	case n < p.Prefixes:
		return nil, fmt.Errorf("prefix repetition: %d requests: want at least as many as the %d Prefixes", n, p.Prefixes)
	case p.Template < 0 || p.Template >= p.Suffix:
		return nil, fmt.Errorf("prefix repetition: field Template is %d tokens: want from 0 to %d (less than Suffix)", p.Template, p.Suffix-1)
	}
	g := groups{seed: p.Seed, salt: p.Salt, ordered: p.InOrder, tok: orWords(p.Tokenizer), output: func(*rand.Rand) int { return p.Output }}
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

// SharedPrefix is SGLang's workload "generated-shared-prefix" (generated_shared_prefix.py in
// https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets). All
// prompts of a group have the same system prompt, followed by an empty line and a question.
// The prompts of all groups are in random order. Lengths may be drawn from a range, as in
// [Random] with SGLang's rules.
//
// The text is random words of an exact length, as in [Prompts]. SGLang uses random tokens of
// the vocabulary instead. The text of such tokens may have another number of tokens, which
// SGLang does not correct. As in SGLang, the whole prompt is one message.
type SharedPrefix struct {
	// PerGroup is the number of prompts in a group; 0 means 16. For SGLang's default of 64
	// groups, request 1,024 prompts.
	PerGroup int
	// System, Question and Output are the lengths in tokens of a system prompt, of a
	// question and of its answer; 0 means 2,048, 128 and 256.
	System, Question, Output int
	// Ratio is SGLang's --gsp-range-ratio: instead of a length L, a length from Ratio*L to
	// L is drawn. 0 means 1, so that all lengths are L.
	Ratio float64
	// InOrder keeps all prompts of a group together instead of shuffling them.
	InOrder bool
	// Seed determines the words, the lengths and the order. Salt changes only the words.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. The question is
	// shortened by Template tokens, but has at least one token.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests with FixedOutput set. Each group has PerGroup requests; the last
// group may have fewer. Requests returns an error if n or a field is out of range.
func (p SharedPrefix) Requests(n int) ([]llmbench.Request, error) {
	p.PerGroup, p.System, p.Question, p.Output = cmp.Or(p.PerGroup, 16), cmp.Or(p.System, 2048), cmp.Or(p.Question, 128), cmp.Or(p.Output, 256)
	p.Ratio = cmp.Or(p.Ratio, 1)
	switch {
	case n < 1:
		return nil, fmt.Errorf("shared prefix: %d requests: want at least 1", n)
	case p.PerGroup < 1 || p.System < 1 || p.Question < 1 || p.Output < 1 || p.System > mostTokens || p.Question > mostTokens:
		return nil, fmt.Errorf("shared prefix: fields PerGroup, System, Question and Output are %d, %d, %d and %d: want at least 1, and System and Question at most %d",
			p.PerGroup, p.System, p.Question, p.Output, mostTokens)
	case !(p.Ratio > 0 && p.Ratio <= 1):
		return nil, fmt.Errorf("shared prefix: field Ratio is %v: want above 0 to 1, or 0 for 1", p.Ratio)
	case p.Template < 0:
		return nil, fmt.Errorf("shared prefix: field Template is %d tokens: want at least 0", p.Template)
	}
	drawn := func(full int) func(*rand.Rand) int { return lengths{SGLang, full, p.Ratio}.draw }
	question := drawn(p.Question)
	g := groups{seed: p.Seed, salt: p.Salt, ordered: p.InOrder, tok: orWords(p.Tokenizer), output: drawn(p.Output)}
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

// groups makes groups of prompts with common prefixes.
type groups struct {
	seed, salt uint64
	ordered    bool
	tok        llmbench.Tokenizer
	output     func(*rand.Rand) int // draws the length of an answer in tokens
	all        []group
}

// A group describes prompts with a common prefix.
type group struct {
	prefix, prompts int                  // length of the prefix in tokens, and number of prompts
	suffix          func(*rand.Rand) int // draws the length of a suffix in tokens
	between         string               // text between prefix and suffix
}

func (g *groups) add(prefix, prompts int, suffix func(*rand.Rand) int, between string) {
	g.all = append(g.all, group{prefix, prompts, suffix, between})
}

// requests returns the requests of all groups. The beginnings of all prefixes differ, and so do
// the beginnings of all suffixes. template is the number of tokens that the server adds.
func (g *groups) requests(template int) ([]llmbench.Request, error) {
	fit := newFitter(g.tok)
	distinct := newDistinctTexts(saltedSeed(g.seed, g.salt))
	random := rand.New(rand.NewPCG(g.seed, 5))
	var requests []llmbench.Request
	texts := 0
	for i, group := range g.all {
		head, err := distinct.text(fit, "", texts, group.prefix)
		if err != nil {
			return nil, fmt.Errorf("prefix %d: %w", i, err)
		}
		texts++
		for range group.prompts {
			tokens := group.prefix + group.suffix(random)
			prompt, err := distinct.text(fit, head+group.between, texts, tokens)
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
