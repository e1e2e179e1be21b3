package benchdata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestShareGPTByRule has a file for each rule of each tool. It checks the lengths of the prompts and
// answers that are taken.
func TestShareGPTByRule(t *testing.T) {
	turns := func(key, says string, words ...int) string {
		var all []string
		for i, n := range words {
			all = append(all, fmt.Sprintf(`{"from": %q, %q: %q}`, []string{"human", "gpt"}[i%2], says, strings.Repeat("w ", n)))
		}
		return fmt.Sprintf(`{"id": "x", %q: [%s]}`, key, strings.Join(all, ", "))
	}
	pair := func(prompt, answer int) string { return turns("conversations", "value", prompt, answer) }
	gptFirst := `{"conversations": [{"from": "gpt", "value": "w w w w w"}, {"from": "human", "value": "w w w w w w"}]}`
	other := pair(7, 8) // a record that is always taken
	both := ShareGPT{}
	sglang := ShareGPT{Rules: SGLang}
	custom := ShareGPT{Rules: SGLangCustom}
	for _, tt := range []struct {
		rule string
		s    ShareGPT
		file string
		want []int // numbers of words in prompt and answer; nil if the record is skipped
	}{
		{"vLLM: fewer than two turns", both, turns("conversations", "value", 9), nil},
		{"vLLM: no turns", both, turns("conversations", "value"), nil},
		{"vLLM: more than two turns, the first two", both, turns("conversations", "value", 5, 6, 9, 9), []int{5, 6}},
		{"vLLM: roles are not looked at", both, gptFirst, []int{5, 6}},
		{"vLLM: shortest prompt", both, pair(4, 9), []int{4, 9}},
		{"vLLM: short prompt", both, pair(3, 9), nil},
		{"vLLM: shortest answer", both, pair(9, 4), []int{9, 4}},
		{"vLLM: short answer", both, pair(9, 3), nil},
		{"vLLM: longest prompt", both, pair(1024, 9), []int{1024, 9}},
		{"vLLM: long prompt", both, pair(1025, 9), nil},
		{"vLLM: longest pair", both, pair(100, 1948), []int{100, 1948}},
		{"vLLM: long pair", both, pair(100, 1949), nil},
		{"vLLM: output set, answer too short", ShareGPT{Output: 20}, pair(9, 1), []int{9, 20}},
		{"vLLM: output set, pair too long", ShareGPT{Output: 2040}, pair(9, 9), nil},
		{"SGLang: fewer than two turns", sglang, turns("conversations", "value", 9), nil},
		{"SGLang: no member with turns", sglang, `{"id": "x"}`, nil},
		{"SGLang: the other name of turns", sglang, turns("conversation", "value", 5, 6), []int{5, 6}},
		{"SGLang: the first name before the other", sglang, `{"conversation": [], ` + pair(5, 6)[1:], []int{5, 6}},
		{"SGLang: roles are not looked at", sglang, gptFirst, []int{5, 6}},
		{"SGLang: shortest", sglang, pair(2, 2), []int{2, 2}},
		{"SGLang: short prompt", sglang, pair(1, 9), nil},
		{"SGLang: short answer", sglang, pair(9, 1), nil},
		{"SGLang: nothing is too long", sglang, pair(1025, 5000), []int{1025, 5000}},
		{"SGLang: longest by the context", ShareGPT{Rules: SGLang, Context: 30}, pair(10, 20), []int{10, 20}},
		{"SGLang: too long for the context", ShareGPT{Rules: SGLang, Context: 30}, pair(10, 21), nil},
		{"SGLang: output set", ShareGPT{Rules: SGLang, Output: 4}, pair(2, 0), []int{2, 4}},
		{"custom: content", custom, turns("conversations", "content", 5, 6), []int{5, 6}},
		{"custom: value", custom, turns("conversation", "value", 5, 6), []int{5, 6}},
		{"custom: content before value", custom, `{"conversations": [{"value": "w", "content": "w w w"}, {"content": "w w", "value": "w"}]}`, []int{3, 2}},
	} {
		file := "[" + tt.file + "," + other + "]"
		if tt.s.Rules == SGLangCustom {
			file = tt.file + "\n" + other
		}
		tt.s.NoRepeat = true
		requests, err := tt.s.Read(strings.NewReader(file), 5)
		assert.NilError(t, err, tt.rule)
		var got []int
		for _, r := range requests {
			if r.PromptTokens != 7 {
				got = append(got, r.PromptTokens, r.MaxTokens)
			}
		}
		assert.DeepEqual(t, got, tt.want)
	}
	// If there are too few conversations, vLLM draws some of them again. SGLang does not.
	for _, tt := range []struct {
		s    ShareGPT
		want int
	}{{ShareGPT{}, 50}, {ShareGPT{NoRepeat: true}, 2}, {sglang, 2}} {
		requests, err := tt.s.Read(strings.NewReader("["+pair(5, 5)+","+pair(6, 6)+"]"), 50)
		assert.NilError(t, err)
		assert.Equal(t, len(requests), tt.want)
	}
	for _, tt := range []struct {
		s          ShareGPT
		file, want string
	}{
		{ShareGPT{Rules: SGLang, Output: 3}, "[" + other + "]", "sharegpt-sglang: field Output is 3 tokens: want at least 4"},
		{ShareGPT{Context: 9}, "[" + other + "]", "field Context is 9 tokens by the rules of vllm"},
		{ShareGPT{Rules: "tgi"}, "[" + other + "]", `field Rules is "tgi": want vllm, sglang or sglang-custom`},
		{sglang, other, "the file is a JSON object: want an array"},
		{custom, other + "\n{not JSON}\n", "jsonl-sglang: line 2: record 1: "},
		{custom, `{"image": "a.png", ` + other[1:], `line 1: record 0: member "image" cannot be sent`},
		{custom, `{"conversations": [{"role": "user"}, {"content": "w w"}]}`, `record 0: turn 0: there is no "content": want a string`},
	} {
		_, err := tt.s.Read(strings.NewReader(tt.file), 5)
		assert.ErrorContains(t, err, tt.want)
	}
}

// TestRandomRanges checks that the lengths cover the range of each tool's rule, and that no length is
// outside.
func TestRandomRanges(t *testing.T) {
	for _, tt := range []struct {
		r           Random
		input, outs [2]int // shortest and longest length
	}{
		{Random{Input: 10, Output: 4}, [2]int{10, 10}, [2]int{4, 4}},
		{Random{Input: 10, Output: 5, Ratio: 0.25}, [2]int{7, 13}, [2]int{3, 7}},
		{Random{Input: 3, Output: 2, Ratio: 0.9, Prefix: 5}, [2]int{5, 11}, [2]int{1, 4}},
		{Random{Rules: SGLang, Input: 10, Output: 4}, [2]int{1, 10}, [2]int{1, 4}},
		{Random{Rules: SGLang, Input: 10, Output: 4, Ratio: 0.75}, [2]int{7, 10}, [2]int{3, 4}},
		{Random{Rules: SGLang, Input: 10, Output: 4, Ratio: 1}, [2]int{10, 10}, [2]int{4, 4}},
		{Random{Rules: SGLang, Input: 10, Output: 4, Ratio: 1, Template: 3}, [2]int{10, 10}, [2]int{4, 4}},
	} {
		requests, err := tt.r.Requests(300)
		assert.NilError(t, err)
		var input, outs []int
		for _, r := range requests {
			assert.Equal(t, tokenizer.Words{}.Count(r.Prompt), r.PromptTokens-tt.r.Template)
			input, outs = append(input, r.PromptTokens), append(outs, r.MaxTokens)
			if tt.r.Prefix > 0 {
				assert.DeepEqual(t, strings.Fields(r.Prompt)[:tt.r.Prefix], strings.Fields(requests[0].Prompt)[:tt.r.Prefix])
			}
		}
		assert.DeepEqual(t, [2]int{slices.Min(input), slices.Max(input)}, tt.input)
		assert.DeepEqual(t, [2]int{slices.Min(outs), slices.Max(outs)}, tt.outs)
	}
	vllm, err := Random{}.Requests(1)
	assert.NilError(t, err)
	sglang, err := Random{Rules: SGLang, Ratio: 1}.Requests(1)
	assert.NilError(t, err)
	assert.DeepEqual(t, []int{vllm[0].PromptTokens, vllm[0].MaxTokens, sglang[0].PromptTokens, sglang[0].MaxTokens}, []int{1024, 128, 1024, 1024})
	for _, tt := range []struct {
		r    Random
		want string
	}{
		{Random{Ratio: 1}, "field Ratio is 1: want from 0 to 1, and by the rules of vllm below 1"},
		{Random{Ratio: -0.5}, "field Ratio is -0.5"},
		{Random{Rules: SGLang, Prefix: 1}, "field Prefix is 1 tokens by the rules of sglang"},
		{Random{Rules: SGLangCustom}, `field Rules is "sglang-custom": want vllm or sglang`},
		{Random{Input: -1}, "fields Input and Output are -1 and 128 tokens"},
		{Random{Input: 1, Ratio: 0.5}, "the shortest prompt has none"},
		{Random{Template: -1}, "field Template is -1 tokens"},
	} {
		_, err := tt.r.Requests(3)
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestSonnet(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(sonnetsText), "\n")
	assert.Equal(t, len(lines), 23*14)
	requests, err := Sonnet{Seed: 3}.Requests(40)
	assert.NilError(t, err)
	mean := float64(tokenizer.Words{}.Count(sonnetsText)) / float64(len(lines))
	base := tokenizer.Words{}.Count(sonnetTask)
	common := int(float64(200-base)/mean + 0.5)
	shortest := 550
	for _, r := range requests {
		assert.Equal(t, r.MaxTokens, 150)
		assert.Assert(t, r.PromptTokens <= 550)
		shortest = min(shortest, r.PromptTokens)
		got := strings.Split(strings.TrimSpace(r.Prompt), "\n")
		assert.Equal(t, got[0]+"\n", sonnetTask)
		assert.DeepEqual(t, got[1:1+common], lines[:common])
		for _, line := range got[1+common:] {
			assert.Assert(t, slices.Contains(lines, line), line)
		}
		assert.Equal(t, len(got)-1, int(float64(550-base)/mean+0.5))
	}
	assert.Assert(t, shortest > 500, "%d", shortest)
	assert.Assert(t, requests[0].Prompt != requests[1].Prompt)
	for _, tt := range []struct {
		s    Sonnet
		want string
	}{
		{Sonnet{Input: 5}, "sonnet: field Input is 5 tokens: want more than the 7 of the task"},
		{Sonnet{Input: 100, Prefix: 100}, "want more lines for Input than for Prefix"},
		{Sonnet{Input: 5000, Prefix: 4000}, "and at most the 322 lines of the file for Prefix"},
		{Sonnet{Path: "testdata/none.txt"}, "no such file"},
		{Sonnet{Output: -1}, "field Output is -1 tokens"},
		{Sonnet{Template: -1}, "field Template is -1 tokens"},
	} {
		_, err := tt.s.Requests(1)
		assert.ErrorContains(t, err, tt.want)
	}
}

// groupsOf returns, for each distinct beginning of the given number of words, the number of requests.
func groupsOf(requests []llmbench.Request, words int) map[string]int {
	groups := map[string]int{}
	for _, r := range requests {
		groups[strings.Join(strings.Fields(r.Prompt)[:words], " ")]++
	}
	return groups
}

func TestPrefixRepetition(t *testing.T) {
	requests, err := PrefixRepetition{Prefixes: 3, Prefix: 20, Suffix: 10, Output: 5, Seed: 1, Template: 2}.Requests(17)
	assert.NilError(t, err)
	assert.Equal(t, len(requests), 15) // like vLLM, rounds 17 down to a multiple of 3
	groups := groupsOf(requests, 20)
	assert.Equal(t, len(groups), 3)
	for _, n := range groups {
		assert.Equal(t, n, 5)
	}
	assert.Equal(t, len(groupsOf(requests, 21)), 15)
	assert.Equal(t, len(groupsOf(requests, 1)), 3)
	for _, r := range requests {
		assert.DeepEqual(t, []int{tokenizer.Words{}.Count(r.Prompt), r.PromptTokens, r.MaxTokens}, []int{28, 30, 5})
	}
	assert.Assert(t, len(groupsOf(requests[:5], 20)) > 1, "the requests are not shuffled")
	ordered, err := PrefixRepetition{Prefixes: 3, Prefix: 20, Suffix: 10, InOrder: true}.Requests(15)
	assert.NilError(t, err)
	assert.Equal(t, len(groupsOf(ordered[:5], 20)), 1)
	for _, tt := range []struct {
		p    PrefixRepetition
		want string
	}{
		{PrefixRepetition{Prefixes: 6}, "prefix repetition: 5 requests: want at least as many as the 6 Prefixes"},
		{PrefixRepetition{Prefixes: 1, Suffix: 4, Template: 4}, "field Template is 4 tokens: want from 0 to 3"},
		{PrefixRepetition{Prefix: -1}, "are 10, -1, 256 and 128: want at least 1"},
	} {
		_, err := tt.p.Requests(5)
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestSharedPrefix(t *testing.T) {
	tok := loadTokenizer(t, "qwen2-style")
	requests, err := SharedPrefix{PerGroup: 4, System: 64, Question: 16, Output: 9, Seed: 1, Tokenizer: tok}.Requests(10)
	assert.NilError(t, err)
	systems := map[string]int{}
	for _, r := range requests {
		system, question, found := strings.Cut(r.Prompt, "\n\n")
		assert.Assert(t, found && question != "")
		systems[system]++
		assert.DeepEqual(t, []int{tok.Count(system), tok.Count(r.Prompt), r.PromptTokens, r.MaxTokens}, []int{64, 80, 80, 9})
	}
	sizes := []int{}
	for _, n := range systems {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	assert.DeepEqual(t, sizes, []int{2, 4, 4})

	drawn, err := SharedPrefix{PerGroup: 2, System: 40, Question: 20, Output: 10, Ratio: 0.5, Seed: 1}.Requests(200)
	assert.NilError(t, err)
	shortest, longest := 1000, 0
	for _, r := range drawn {
		system, question, _ := strings.Cut(r.Prompt, "\n\n")
		s, q := tokenizer.Words{}.Count(system), tokenizer.Words{}.Count(question)
		assert.Assert(t, s >= 20 && s <= 40 && q >= 10 && q <= 20 && r.MaxTokens >= 5 && r.MaxTokens <= 10, "%d, %d, %d", s, q, r.MaxTokens)
		shortest, longest = min(shortest, s), max(longest, s)
	}
	assert.Assert(t, shortest < 24 && longest > 36, "%d to %d", shortest, longest)
	for _, tt := range []struct {
		p    SharedPrefix
		want string
	}{
		{SharedPrefix{Ratio: 1.5}, "shared prefix: field Ratio is 1.5"},
		{SharedPrefix{System: -1}, "are 16, -1, 128 and 256: want at least 1"},
		{SharedPrefix{Template: -1}, "field Template is -1 tokens"},
	} {
		_, err := tt.p.Requests(5)
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestBodies(t *testing.T) {
	requests, err := Bodies{}.Read(strings.NewReader(`{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "why "}, {"type": "text", "text": "so"}]}],
		"max_tokens": 9, "max_completion_tokens": null, "temperature": 0.5, "stream": true, "tools": null}
		{"messages": [{"role": "assistant", "content": "a", "tool_calls": null}], "max_completion_tokens": 7, "max_tokens": 8}
		{"messages": [{"role": "user", "content": ""}]}`), 4)
	assert.NilError(t, err)
	assert.DeepEqual(t, requests, []llmbench.Request{
		{Messages: []llmbench.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "why so"}}, MaxTokens: 9, PromptTokens: 4},
		{Messages: []llmbench.Message{{Role: "assistant", Content: "a"}}, MaxTokens: 7, PromptTokens: 1},
		{Messages: []llmbench.Message{{Role: "user", Content: ""}}, MaxTokens: 256},
		{Messages: []llmbench.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "why so"}}, MaxTokens: 9, PromptTokens: 4},
	})
	fixed, err := Bodies{Output: 5, FixedOutput: true, NoRepeat: true}.Read(strings.NewReader(`[{"messages": [{"role": "user", "content": "a"}], "max_tokens": "many"}]`), 4)
	assert.NilError(t, err)
	assert.Assert(t, len(fixed) == 1 && fixed[0].MaxTokens == 5 && fixed[0].FixedOutput)
	for _, tt := range []struct{ body, want string }{
		{`{"prompt": "a"}`, `member "prompt" cannot be sent`},
		{`{"model": "m"}`, `there are no "messages"`},
		{`{"messages": []}`, `there are no "messages"`},
		{`{"messages": "a"}`, `"messages": want an array of objects`},
		{`{"messages": [{"role": "user"}]}`, `message 0: there is no "content": want a string`},
		{`{"messages": [{"role": "user", "content": 7}]}`, `message 0: "content" is a JSON number: want a string`},
		{`{"messages": [{"role": "tool", "content": "a"}]}`, `message 0: "role" is "tool": want system, developer, user or assistant`},
		{`{"messages": [{"role": "user", "content": "a", "name": "b"}]}`, `message 0: member "name" cannot be sent`},
		{`{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}`, `message 0: part 0: "type" is "image_url": want text`},
		{`{"messages": [{"role": "user", "content": ["a"]}]}`, `message 0: "content": want a string or an array of parts`},
		{`{"messages": [{"role": "user", "content": "a"}], "tools": []}`, `member "tools" cannot be sent`},
		{`{"messages": [{"role": "user", "content": "a"}], "max_tokens": 0}`, `"max_tokens" is 0: want at least 1`},
		{`{"messages": [{"role": "user", "content": "a"}], "max_tokens": 1.5}`, `"max_tokens" is 1.5: want a whole number`},
	} {
		_, err := Bodies{}.Read(strings.NewReader("\n"+tt.body), 1)
		assert.ErrorContains(t, err, "openai: line 2: record 0: "+tt.want)
	}
	_, err = Bodies{}.Read(strings.NewReader("[]"), 1)
	assert.ErrorContains(t, err, "openai: the file has no bodies of requests")
}
