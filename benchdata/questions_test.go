package benchdata

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

func TestQuestionFormats(t *testing.T) {
	for _, tt := range []struct {
		q    Questions
		file string
		want []string
		out  []int
	}{
		{Questions{Format: OpenQA}, `{"id": 1, "question": " 什么是 光？\n", "human_answers": ["…"], "chatgpt_answers": []}` + "\r\n" + `{"question": "two"}`,
			[]string{"什么是 光？", "two", "什么是 光？"}, []int{2048, 2048, 2048}},
		{Questions{Format: OpenQA, Output: 9, NoRepeat: true}, "\ufeff{\"question\": \"a b\"}\n\n{\"question\": \"\"}\n", []string{"a b"}, []int{9}},
		{Questions{Format: Codefuse}, `[{"id": 0, "input": "write it", "output": "…"}, {"input": "test it"}]`, []string{"write it", "test it", "write it"}, []int{2048, 2048, 2048}},
		{Questions{Format: Long, MinPrompt: 2, MaxPrompt: 3}, `{"question": "a"}{"question": "a b"}{"question": "a b c d"}{"question": "a b c"}`,
			[]string{"a b", "a b c", "a b"}, []int{2048, 2048, 2048}},
		{Questions{Format: Alpaca}, `[{"instruction": "Add.", "input": "1 2"}, {"instruction": "Sing.", "input": ""}, {"instruction": "Stop."}]`,
			[]string{"Add.\n1 2", "Sing.", "Stop."}, []int{2048, 2048, 2048}},
		{Questions{Format: LongAlpaca}, `[{"instruction": "Read this: …", "input": "no", "output": "…"}]`, []string{"Read this: …", "Read this: …", "Read this: …"}, []int{2048, 2048, 2048}},
		{Questions{Format: Lines}, "one\r\n\r\n  two \nthree", []string{"one", "two", "three"}, []int{2048, 2048, 2048}},
		{Questions{Format: CustomVLLM, NoRepeat: true}, `{"prompt": " a ", "output_tokens": 7}`, []string{" a "}, []int{256}},
		{Questions{Format: CustomVLLM, NoRepeat: true}, `{"prompt": "a", "output_tokens": "seven"}`, []string{"a"}, []int{256}},
		{Questions{Format: CustomVLLM, NoRepeat: true, OwnOutput: true}, `{"prompt": " a ", "output_tokens": 7}`, []string{" a "}, []int{7}},
		{Questions{Format: CustomVLLM, NoRepeat: true}, `{"prompt": "a"}`, []string{"a"}, []int{256}},
		{Questions{Format: CustomVLLM, NoRepeat: true, Output: 5}, `{"prompt": " a "}`, []string{" a "}, []int{5}},
		{Questions{Format: SpecBench, NoRepeat: true}, `{"question_id": 81, "category": "writing", "turns": [" Write it.", "Again."], "reference": []}`, []string{" Write it."}, []int{256}},
		{Questions{Format: SpecBench, NoRepeat: true, Category: "qa", Output: 9},
			`{"category": "math", "turns": ["1 + 1?"]}` + "\n" + `{"category": "qa", "turns": ["Who?"]}` + "\n" + `{"category": "rag", "turns": ["?"]}`, []string{"Who?"}, []int{9}},
	} {
		requests, err := tt.q.Read(strings.NewReader(tt.file), 3)
		assert.NilError(t, err)
		var got []string
		var out []int
		for _, r := range requests {
			got, out = append(got, r.Prompt), append(out, r.MaxTokens)
			assert.Equal(t, r.PromptTokens, tokenizer.Words{}.Count(r.Prompt))
		}
		assert.DeepEqual(t, got, tt.want)
		assert.DeepEqual(t, out, tt.out)
	}
}

func TestQuestionErrors(t *testing.T) {
	for _, tt := range []struct {
		q    Questions
		file string
		want string
	}{
		{Questions{Format: OpenQA}, "", "openqa: the file is empty"},
		{Questions{Format: OpenQA}, "\n\n", "openqa: no question of 0 records has an allowed length"},
		{Questions{Format: OpenQA}, `{"question": ""}`, "openqa: no question of 1 records has an allowed length"},
		{Questions{Format: OpenQA}, "{\"question\": \"a\"}\n{\"quest", "openqa: line 2: record 1: "},
		{Questions{Format: OpenQA}, "{\"question\": \"a\"}\n{\"input\": \"b\"}", `openqa: line 2: record 1: there is no "question": want a string`},
		{Questions{Format: Codefuse}, "[\n{\"input\": \"a\"},\n{\"input\": 7}\n]", `codefuse: line 3: record 1: "input" is a JSON number: want a string`},
		{Questions{Format: Codefuse}, "[\n{\"input\": \"a\"}\n] {}", "codefuse: line 3: the file must end after its JSON array"},
		{Questions{Format: Codefuse}, "[\n{\"input\": \"a\"}\n", "codefuse: line 3: "},
		{Questions{Format: Long}, "\xff\xfe{\x00", "long: the file is UTF-16: want UTF-8"},
		{Questions{Format: Alpaca}, `{"instruction": "a", "input": 7}`, `alpaca: line 1: record 0: "input" is a JSON number: want a string`},
		{Questions{Format: CustomVLLM, OwnOutput: true}, `{"prompt": "a"}`, `jsonl: line 1: record 0: there is no "output_tokens": want a number`},
		{Questions{Format: CustomVLLM, OwnOutput: true, Output: 3}, `{"prompt": "a"}`, "jsonl: field Output is 3 tokens and OwnOutput is set"},
		{Questions{Format: OpenQA, OwnOutput: true}, `{"question": "a"}`, "openqa: field OwnOutput is set for format openqa: want it for jsonl only"},
		{Questions{Format: CustomVLLM, OwnOutput: true}, `{"prompt": "a", "output_tokens": "7"}`, `jsonl: line 1: record 0: "output_tokens" is a JSON string: want a number`},
		{Questions{Format: CustomVLLM, OwnOutput: true}, `{"prompt": "a", "output_tokens": 0}`, `"output_tokens" is 0: want at least 1`},
		{Questions{Format: SpecBench}, `{"turns": "a"}`, `spec-bench: line 1: record 0: "turns" is a JSON string: want a`},
		{Questions{Format: SpecBench}, `{"turns": [7]}`, `spec-bench: line 1: record 0: "turns": want an array of strings`},
		{Questions{Format: SpecBench}, `{"turns": []}`, `spec-bench: line 1: record 0: "turns" is empty: want at least one turn`},
		{Questions{Format: SpecBench}, `{"turns": ["FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"]}`,
			`spec-bench: line 1: record 0: "turns" has a placeholder: want the text, which prepare_data.py`},
		{Questions{Format: SpecBench, Category: "q"}, `{"turns": ["a"]}`, `spec-bench: line 1: record 0: there is no "category": want a string`},
		{Questions{Format: SpecBench, Category: "q"}, `{"category": "b", "turns": ["a"]}{"category": "a", "turns": ["a"]}`, `spec-bench: no record has the category "q": want one of ["a" "b"]`},
		{Questions{Format: OpenQA, Category: "q"}, `{"question": "a"}`, `openqa: field Category is "q" for format openqa: want it for spec-bench only`},
		{Questions{Format: "csv"}, "a", `questions: field Format is "csv"`},
		{Questions{Format: Lines, Output: -1}, "a", "lines: field Output is -1 tokens"},
		{Questions{Format: Lines, MinPrompt: 3, MaxPrompt: 2}, "a", "fields MinPrompt and MaxPrompt are 3 and 2 tokens"},
	} {
		requests, err := tt.q.Read(strings.NewReader(tt.file), 9)
		assert.ErrorContains(t, err, tt.want)
		assert.Assert(t, requests == nil)
	}
}
