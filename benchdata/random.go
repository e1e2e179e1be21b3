package benchdata

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Random is the workload "random" of vLLM or SGLang: the lengths of prompts and
// answers are drawn from ranges. [Prompts] has fixed lengths instead, and [Drawn] has lengths of
// any distribution.
//
// Both tools have the option --random-range-ratio, here called r. For a configured length L,
// its meanings are opposite:
//
//   - vLLM draws uniformly from floor(L (1-r)) to ceil(L (1+r)). r is from 0 to below 1. The
//     default is 0, which means exactly L (random.py in
//     https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets).
//   - SGLang draws uniformly from floor(L r) to L. r is from 0 to 1. The default is 0, which
//     means any length from 1 to L; 1 means exactly L (common.py in
//     https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets).
//
// Every answer has at least one token. With SGLang's rules, so has every prompt. The text is
// random words, as in [Prompts]; the tools use random tokens of a vocabulary. Prompts have
// exactly the lengths that were drawn.
type Random struct {
	// Rules is VLLM or SGLang; "" means VLLM.
	Rules Rules
	// Input and Output are the lengths L of prompts and of answers in tokens. 0 means
	// 1,024; with vLLM's rules, an Output of 0 means 128.
	Input, Output int
	// Ratio is r.
	Ratio float64
	// Prefix is the number of tokens at the beginning that are the same in all prompts. They
	// come in addition to Input. Prefix is only allowed with vLLM's rules.
	Prefix int
	// Seed determines lengths and words. Salt changes the words but not the lengths.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. The text after
	// the prefix is shortened by Template tokens; it may then be empty.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns n requests. Like the tools, it sets FixedOutput. It returns an error if n
// or a field is out of range.
func (r Random) Requests(n int) ([]llmbench.Request, error) {
	r.Rules = cmp.Or(r.Rules, VLLM)
	r.Input, r.Output = cmp.Or(r.Input, 1024), cmp.Or(r.Output, map[Rules]int{VLLM: 128, SGLang: 1024}[r.Rules])
	if err := r.check(n); err != nil {
		return nil, fmt.Errorf("random: %w", err)
	}
	input, output := lengths{r.Rules, r.Input, r.Ratio}, lengths{r.Rules, r.Output, r.Ratio}
	if low, _ := input.bounds(); r.Prefix+low < 1 {
		return nil, fmt.Errorf("random: Input is %d tokens at a Ratio of %v: the shortest prompt has none, must have at least 1", r.Input, r.Ratio)
	}
	random := rand.New(rand.NewPCG(r.Seed, 3))
	requests := make([]llmbench.Request, n)
	for i := range requests {
		text := max(r.Prefix+max(input.draw(random)-r.Template, 0), 1)
		requests[i] = llmbench.Request{
			MaxTokens:    max(output.draw(random), 1),
			FixedOutput:  true,
			PromptTokens: text + r.Template,
		}
	}
	if err := fill(requests, r.Prefix, r.Template, saltedSeed(r.Seed, r.Salt), newFitter(orWords(r.Tokenizer))); err != nil {
		return nil, fmt.Errorf("random: %w", err)
	}
	return requests, nil
}

func (r Random) check(n int) error {
	most := 1.0
	if r.Rules == VLLM {
		most = math.Nextafter(1, 0)
	}
	switch {
	case r.Rules != VLLM && r.Rules != SGLang:
		return fmt.Errorf("field Rules is %q: want %s or %s", r.Rules, VLLM, SGLang)
	case n < 1:
		return fmt.Errorf("%d requests: want at least 1", n)
	case r.Input < 1 || r.Output < 1 || r.Input > mostTokens || r.Output > mostTokens:
		return fmt.Errorf("fields Input and Output are %d and %d tokens: want from 1 to %d", r.Input, r.Output, mostTokens)
	case !(r.Ratio >= 0 && r.Ratio <= most):
		return fmt.Errorf("field Ratio is %v: want from 0 to 1, and by the rules of %s below 1", r.Ratio, VLLM)
	case r.Prefix < 0 || r.Prefix > 0 && r.Rules != VLLM:
		return fmt.Errorf("field Prefix is %d tokens by the rules of %s: want 0 or more, and 0 unless field Rules is %s", r.Prefix, r.Rules, VLLM)
	case r.Template < 0:
		return fmt.Errorf("field Template is %d tokens: want at least 0", r.Template)
	}
	return nil
}

// lengths is a range of lengths in tokens, by the rules of a tool.
type lengths struct {
	rules Rules
	full  int
	ratio float64
}

// bounds returns the shortest and the longest length.
func (l lengths) bounds() (low, high int) {
	if l.rules == SGLang {
		return max(int(float64(l.full)*l.ratio), 1), l.full
	}
	return int(math.Floor(float64(l.full) * (1 - l.ratio))), int(math.Ceil(float64(l.full) * (1 + l.ratio)))
}

// draw returns a random length.
func (l lengths) draw(random *rand.Rand) int {
	low, high := l.bounds()
	return low + random.IntN(high-low+1)
}
