package benchdata

import (
	"cmp"
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Rules names the tool whose rules a data set follows.
type Rules string

// The rules.
const (
	VLLM         Rules = "vllm"
	SGLang       Rules = "sglang"
	SGLangCustom Rules = "sglang-custom" // rules of SGLang's data set "custom"
)

// ShareGPT is the workload "sharegpt": real questions with the lengths of their real
// answers, from a file such as ShareGPT_V3_unfiltered_cleaned_split.json
// (https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered).
//
// By default it follows the rules of vLLM's ShareGPTDataset, so that results can be compared
// with vLLM's (sharegpt.py and utils.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
//
//   - Conversations of fewer than two turns are skipped.
//   - The first turn is the prompt and the second turn is the answer, whatever their roles.
//   - A pair of prompt and answer is skipped if the prompt or the answer has fewer than 4
//     tokens, if the prompt has more than 1,024 tokens, or if both together have more than
//     2,048.
//   - The conversations are shuffled and the first n are taken. If there are fewer,
//     more are drawn from them with replacement.
//
// If the field Rules is SGLang or SGLangCustom, it follows SGLang's rules (sharegpt.py and
// custom.py in
// https://github.com/sgl-project/sglang/tree/main/python/sglang/benchmark/datasets):
//
//   - The member with the turns may also be named "conversation". Records with fewer than
//     two turns, or without turns, are skipped. The first turn is the prompt and the second
//     turn is the answer, whatever their roles.
//   - A pair is skipped if the prompt or the answer has fewer than 2 tokens. Output, if set,
//     must be at least 4. Only Context limits the length of a pair.
//   - The conversations are shuffled and the first n are taken. If there are fewer,
//     there are fewer requests.
//   - The custom data set is JSON Lines, with the text of a turn in "content" or
//     "value".
//
// The shuffle differs from Python's, so the same seed selects other conversations than in the
// tools. Lengths do not include a begin-of-text token; the tools count this token for models
// that have one. Some inputs that the tools accept are errors here: a record without
// "conversations" (vLLM's rules), a line that is not JSON or has an image (SGLang's custom data
// set), and a file without a usable conversation.
//
// Only the returned requests are held in memory, not the whole file.
type ShareGPT struct {
	// Path is the file that Requests reads. The file may be compressed by gzip or
	// zstd.
	Path string
	// Rules is one of the Rules; "" means VLLM.
	Rules Rules
	// Output is the length of every answer in tokens; 0 means the length of the real
	// answer. As in both tools, pairs with short real answers are not skipped if Output is
	// set.
	Output int
	// Context is the largest length of prompt and answer together, in tokens. Longer pairs
	// are skipped. 0 means no limit. Context is only allowed with SGLang's rules.
	Context int
	// FixedOutput makes the server generate the full length of each answer, which is
	// SGLang's default. Without FixedOutput the model may stop earlier, which is
	// vLLM's default.
	FixedOutput bool
	// NoRepeat returns fewer than n requests if the file has fewer than n usable
	// conversations. With SGLang's rules this is always so.
	NoRepeat bool
	// Seed determines the conversations and their order.
	Seed uint64
	// Salt, if not 0, replaces the beginning of each prompt: see [Options].Salt.
	Salt uint64
	// Tokenizer counts the tokens of prompts and answers; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// shareGPTRules has the file format and the allowed lengths in tokens for each value of Rules.
var shareGPTRules = map[Rules]struct {
	format               conversationFormat
	least                int  // smallest length of a prompt and of an answer
	mostPrompt, mostPair int  // 0 means no limit
	leastOutput          int  // smallest allowed ShareGPT.Output
	once                 bool // conversations do not repeat
}{
	// vLLM's is_valid_sequence.
	VLLM: {conversationFormat{array: true, turns: []string{"conversations"}, texts: []string{"value"}}, 4, 1024, 2048, 1, false},
	SGLang: {conversationFormat{array: true, turns: []string{"conversations", "conversation"}, texts: []string{"value"}, optional: true},
		2, 0, 0, 4, true},
	SGLangCustom: {conversationFormat{turns: []string{"conversations", "conversation"}, texts: []string{"content", "value"}, optional: true, images: true},
		2, 0, 0, 4, true},
}

// Requests returns n requests from the file at Path. Their PromptTokens is the length of the
// prompt and their MaxTokens the length of the answer, counted by the Tokenizer. Requests
// returns an error if n or a field is out of range, if the file cannot be read, if its format
// is wrong, or if no conversation is usable. The error for a wrong format names the line and
// the record.
func (s ShareGPT) Requests(n int) ([]llmbench.Request, error) {
	return readFile(s.kind(), s.Path, func(f *source) ([]llmbench.Request, error) { return s.read(f, n) })
}

// Read is like Requests for a file that is read from r until its end.
func (s ShareGPT) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom(s.kind(), r, func(f *source) ([]llmbench.Request, error) { return s.read(f, n) })
}

// kind returns the name of the data set in errors.
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
	s.Rules = cmp.Or(s.Rules, VLLM)
	rules, ok := shareGPTRules[s.Rules]
	switch {
	case !ok:
		return nil, fmt.Errorf("field Rules is %q: want %s, %s or %s", s.Rules, VLLM, SGLang, SGLangCustom)
	case n < 1:
		return nil, fmt.Errorf("%d requests: want at least 1", n)
	case s.Output < 0 || s.Output > mostTokens || s.Output > 0 && s.Output < rules.leastOutput:
		return nil, fmt.Errorf("field Output is %d tokens: want at least %d, or 0 for the answers' own", s.Output, rules.leastOutput)
	case s.Context < 0 || s.Context > 0 && s.Rules == VLLM:
		return nil, fmt.Errorf("field Context is %d tokens by the rules of %s: want 0 or more, and 0 if field Rules is %s", s.Context, s.Rules, VLLM)
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
	err := add(sample, pairs, tok, func(c conversation) (llmbench.Request, bool) {
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
		return nil, fmt.Errorf("none of %d records can be used: %d have two turns, and no pair has an allowed length", records, sample.records)
	}
	return saltTexts(sample.requests(!s.NoRepeat && !rules.once), s.Salt, tok)
}
