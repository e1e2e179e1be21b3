package benchdata

import (
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Rules name the tool whose rules a data set follows.
type Rules string

// The rules.
const (
	VLLM         Rules = "vllm"
	SGLang       Rules = "sglang"
	SGLangCustom Rules = "sglang-custom" // of SGLang's data set "custom"
)

// ShareGPT is the "sharegpt" workload: real questions, with the lengths that
// real answers had, from a file such as ShareGPT_V3_unfiltered_cleaned_split.json
// (https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered).
//
// It follows the rules of vLLM's ShareGPTDataset, so that figures compare
// (sharegpt.py and utils.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
//
//   - A conversation of fewer than two turns is left out.
//   - The first turn is the prompt and the second the answer, whoever said it.
//   - Prompts and answers of fewer than 4 tokens are left out, as are prompts
//     of more than 1,024 tokens and pairs of more than 2,048.
//   - The conversations are shuffled and the first n are taken; when there are
//     fewer, more are drawn from them with replacement.
//
// or, by Rules, those of SGLang (sharegpt.py and custom.py in
// https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets):
//
//   - The turns may also be called "conversation"; a record without them, or
//     with fewer than two, is left out. The first two turns are the prompt and
//     the answer, whoever said them.
//   - Prompts and answers of fewer than 2 tokens are left out, a given Output
//     must be at least 4, and nothing is too long unless Context says so.
//   - The conversations are shuffled and the first n are taken; when there are
//     fewer, there are fewer requests.
//   - Its custom data set is JSON Lines, and a turn says "content" or "value".
//
// The shuffle is seeded, but it is not Python's: the same seed picks other
// conversations than the tools do. Lengths are without a begin-of-text token,
// which the tools count where a model has one. Things that they pass over are
// errors here: a record without "conversations" (vLLM), a line that is not JSON
// and an image (SGLang's custom), and a file of which nothing can be used.
//
// The file is not held in memory, only the requests that are returned.
type ShareGPT struct {
	// Path is the file that Requests reads; it may be compressed by gzip or
	// zstd.
	Path string
	// Rules are whose rules hold; "" means VLLM.
	Rules Rules
	// Output is the length of every answer in tokens; 0 takes each answer's
	// own. With it, no tool looks whether the answer is too short.
	Output int
	// Context leaves out pairs of more tokens, by SGLang's rules; 0 means none.
	Context int
	// FixedOutput makes the server generate the whole length, as SGLang does
	// unless told otherwise; without it the model may stop earlier, as in
	// vLLM, and MaxTokens is only the limit.
	FixedOutput bool
	// NoRepeat returns fewer than n requests when there are no more, which
	// by SGLang's rules holds in any case.
	NoRepeat bool
	// Seed picks the conversations and their order.
	Seed uint64
	// Tokenizer counts the tokens of prompts and answers; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// shareGPTRules are the lengths that conversations must have, in tokens.
var shareGPTRules = map[Rules]struct {
	format               conversationFormat
	least                int // of a prompt and of an answer
	mostPrompt, mostPair int // 0: no limit
	leastOutput          int // of a given one
	once                 bool
}{
	// vLLM's is_valid_sequence.
	VLLM: {conversationFormat{array: true, turns: []string{"conversations"}, texts: []string{"value"}}, 4, 1024, 2048, 1, false},
	SGLang: {conversationFormat{array: true, turns: []string{"conversations", "conversation"}, texts: []string{"value"}, optional: true},
		2, 0, 0, 4, true},
	SGLangCustom: {conversationFormat{turns: []string{"conversations", "conversation"}, texts: []string{"content", "value"}, optional: true, images: true},
		2, 0, 0, 4, true},
}

// Requests returns n requests from the file at Path; their PromptTokens is
// the prompt's length by the Tokenizer and their MaxTokens the answer's. It
// returns an error when n or Output is out of range, when the file cannot be
// read or is not in the format (naming the line and the record), and when
// no conversation passes the rules.
func (s ShareGPT) Requests(n int) ([]llmbench.Request, error) {
	return readFile(s.kind(), s.Path, func(f *source) ([]llmbench.Request, error) { return s.read(f, n) })
}

// Read is Requests for a file that is read from r, to its end.
func (s ShareGPT) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom(s.kind(), r, func(f *source) ([]llmbench.Request, error) { return s.read(f, n) })
}

// kind is what errors call the data set.
func (s ShareGPT) kind() string {
	switch s.Rules {
	case SGLang:
		return "sharegpt-sglang"
	case SGLangCustom:
		return "jsonl-sglang"
	}
	return "sharegpt"
}

func (s ShareGPT) read(r *source, n int) ([]llmbench.Request, error) {
	if s.Rules == "" {
		s.Rules = VLLM
	}
	rules, ok := shareGPTRules[s.Rules]
	switch {
	case !ok:
		return nil, fmt.Errorf("field Rules is %q, must be %s, %s or %s", s.Rules, VLLM, SGLang, SGLangCustom)
	case n < 1:
		return nil, fmt.Errorf("%d requests, must be at least 1", n)
	case s.Output < 0 || s.Output > mostTokens || s.Output > 0 && s.Output < rules.leastOutput:
		return nil, fmt.Errorf("field Output is %d tokens, must be at least %d, or 0 for the answers' own", s.Output, rules.leastOutput)
	case s.Context < 0 || s.Context > 0 && s.Rules == VLLM:
		return nil, fmt.Errorf("field Context is %d tokens by the rules of %s, must be 0, or more by those of %s", s.Context, s.Rules, SGLang)
	}
	if s.Context > 0 {
		rules.mostPair = s.Context
	}
	sample := newSampler(n, s.Seed, true)
	tok := orWords(s.Tokenizer)
	records := 0
	pairs := func(yield func(conversation, error) bool) {
		for c, err := range rules.format.conversations(r) {
			if err == nil {
				records++
			}
			if (err != nil || c.turns >= 2) && !yield(c, err) {
				return
			}
		}
	}
	err := pick(sample, pairs, tok, func(c conversation) (llmbench.Request, bool) {
		prompt, output := tok.Count(c.first), s.Output
		if prompt < rules.least || rules.mostPrompt > 0 && prompt > rules.mostPrompt {
			return llmbench.Request{}, false
		}
		if output == 0 {
			output = tok.Count(c.second)
		}
		usable := (s.Output > 0 || output >= rules.least) && (rules.mostPair == 0 || prompt+output <= rules.mostPair)
		return llmbench.Request{Prompt: c.first, MaxTokens: output, FixedOutput: s.FixedOutput, PromptTokens: prompt}, usable
	})
	if err != nil {
		return nil, err
	}
	if len(sample.kept) == 0 {
		return nil, fmt.Errorf("none of %d records can be used: %d have two turns, and of those none has the right length", records, sample.place)
	}
	return sample.requests(!s.NoRepeat && !rules.once), nil
}
