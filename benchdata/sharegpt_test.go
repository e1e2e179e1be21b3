package benchdata

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// usable has the lengths, in words, of prompt and answer for the usable records in
// testdata/sharegpt.json. The keys are the beginnings of the prompts.
var usable = map[string][2]int{
	"How do I keep bread":  {9, 27},
	"Welcome back.":        {10, 10}, // the prompt, because it is the first turn, although its role is the model's
	"Name one green fruit": {4, 4},
	"Wie heißt der Fluss,": {9, 15},
	"Write a line of Go":   {10, 11},
	"What does \"mind the": {9, 12},
}

// usableAs returns the key of a request in usable, and checks the request's lengths.
func usableAs(t *testing.T, r llmbench.Request) string {
	t.Helper()
	for begin, lengths := range usable {
		if strings.HasPrefix(r.Prompt, begin) {
			if r.PromptTokens != lengths[0] || r.MaxTokens != lengths[1] {
				t.Errorf("%q has %d and %d tokens, want %v", r.Prompt, r.PromptTokens, r.MaxTokens, lengths)
			}
			return begin
		}
	}
	t.Errorf("%.60q is not a usable record", r.Prompt)
	return ""
}

func TestShareGPTFile(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		s := ShareGPT{Path: "testdata/sharegpt.json", Seed: seed, NoRepeat: true}
		requests, err := s.Requests(100)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, r := range requests {
			if r.FixedOutput || r.Messages != nil {
				t.Errorf("request %+v, want no FixedOutput and no Messages", r)
			}
			order = append(order, usableAs(t, r))
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(order))); len(order) != len(usable) || len(sorted) != len(usable) {
			t.Errorf("seed %d: requests %q, want each of %d records once", seed, order, len(usable))
		}
		orders[strings.Join(order, "|")] = true

		for n := 1; n <= len(usable); n++ {
			fewer, err := s.Requests(n)
			if err != nil || len(fewer) != n {
				t.Fatalf("seed %d: Requests(%d) has %d, error %v", seed, n, len(fewer), err)
			}
			for i, r := range fewer {
				if r.Prompt != requests[i].Prompt {
					t.Errorf("seed %d: Requests(%d)[%d] is %q, Requests(100)[%d] is %q", seed, n, i, r.Prompt, i, requests[i].Prompt)
				}
			}
		}

		s.NoRepeat = false
		more, err := s.Requests(100)
		if err != nil || len(more) != 100 {
			t.Fatalf("seed %d: Requests(100) has %d, error %v", seed, len(more), err)
		}
		drawn := map[string]int{}
		for i, r := range more {
			if i < len(requests) && r.Prompt != requests[i].Prompt {
				t.Errorf("seed %d: request %d is %q, want the order without oversampling, %q", seed, i, r.Prompt, requests[i].Prompt)
			}
			drawn[usableAs(t, r)]++
		}
		for begin := range usable {
			if drawn[begin] < 2 {
				t.Errorf("seed %d: %q is drawn %d times of 100", seed, begin, drawn[begin])
			}
		}
	}
	if len(orders) < 15 {
		t.Errorf("20 seeds have %d orders", len(orders))
	}
}

func TestShareGPTText(t *testing.T) {
	const file = "[{\"conversations\":[{\"value\":\" a b\\nc \\u00e9 \\ud83d\\ude00\\u2028\\ud83d x\"},{\"value\":\"a b c d\"}]}]\n"
	requests, err := ShareGPT{}.Read(strings.NewReader(file), 1)
	if err != nil {
		t.Fatal(err)
	}
	// The text is unchanged, including white space, except for half a surrogate pair.
	if want := " a b\nc é 😀\u2028\ufffd x"; requests[0].Prompt != want {
		t.Errorf("Prompt is %q, want %q", requests[0].Prompt, want)
	}
}

// pair returns a record with two turns that have the given numbers of words.
func pair(prompt, answer int) string {
	return fmt.Sprintf(`{"conversations":[{"from":"human","value":%q},{"from":"gpt","value":%q}]}`,
		strings.Repeat("w ", prompt), strings.Repeat("w ", answer))
}

func TestShareGPTRules(t *testing.T) {
	tests := []struct {
		prompt, answer int
		output         int // the field ShareGPT.Output
		want           int // the request's MaxTokens, or 0 if the record is skipped
	}{
		{4, 4, 0, 4},
		{3, 4, 0, 0},
		{4, 3, 0, 0},
		{0, 0, 0, 0},
		{1024, 1024, 0, 1024},
		{1025, 4, 0, 0},
		{1024, 1025, 0, 0},
		{4, 2044, 0, 2044},
		{4, 2045, 0, 0},
		{4, 0, 100, 100}, // the length of the answer does not matter
		{4, 5000, 100, 100},
		{4, 4, 1, 1}, // Output can be less than 4
		{3, 4, 100, 0},
		{1025, 4, 100, 0},
		{1024, 4, 1024, 1024},
		{1024, 4, 1025, 0},
	}
	for _, tt := range tests {
		// Another record, because a file without usable records is an error.
		file := "[" + pair(77, 77) + "," + pair(tt.prompt, tt.answer) + "]"
		s := ShareGPT{Output: tt.output, FixedOutput: true, NoRepeat: true}
		requests, err := s.Read(strings.NewReader(file), 2)
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		got := 0
		for _, r := range requests {
			if r.PromptTokens == tt.prompt {
				got = r.MaxTokens
			}
			if !r.FixedOutput {
				t.Errorf("%+v: FixedOutput is not set", tt)
			}
		}
		if got != tt.want {
			t.Errorf("%+v: MaxTokens = %d, want %d", tt, got, tt.want)
		}
	}
}

func TestShareGPTTokenizer(t *testing.T) {
	tok := loadTokenizer(t, "qwen2-style")
	requests, err := ShareGPT{Path: "testdata/sharegpt.json", Tokenizer: tok}.Requests(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if want := tok.Count(r.Prompt); r.PromptTokens != want {
			t.Errorf("PromptTokens of %q = %d, want %d", r.Prompt, r.PromptTokens, want)
		}
	}
}

func TestShareGPTErrors(t *testing.T) {
	good := pair(4, 4)
	tests := []struct{ file, want string }{
		{``, "the file is empty"},
		{` `, "unexpected EOF"},
		{`{"conversations": []}`, "the file is a JSON object: want an array"},
		{`"text"`, "the file is a JSON string: want an array"},
		{`#not JSON`, "invalid character"},
		{`[]`, "none of 0 records can be used"},
		{`[{"conversations": []}]`, "none of 1 records can be used: 0 have two turns"},
		{`[` + pair(1, 1) + `]`, "none of 1 records can be used: 1 have two turns"},
		{`[` + good + `, 7]`, "record 1: the record is a JSON number: want an object"},
		{`[` + good + `, {"id": "x"}]`, `record 1: there is no "conversations"`},
		{`[` + good + `, {"conversation": []}]`, `record 1: there is no "conversations"`},
		{`[{"conversations": null}]`, `record 0: "conversations" is a JSON null: want an array`},
		{`[{"conversations": {"0": 1}}]`, `record 0: "conversations" is a JSON object: want an array`},
		{`[{"conversations": ["a", "b"]}]`, `record 0: turn 0 is a JSON string: want an object`},
		{`[{"conversations": [{"value": "a"}, true]}]`, `record 0: turn 1 is a JSON boolean: want an object`},
		{`[{"conversations": [{"from": "human"}, {"value": "a"}]}]`, `record 0: turn 0: there is no "value": want a string`},
		{`[{"conversations": [{"value": "a"}, {"value": 7}]}]`, `record 0: turn 1: "value" is a JSON number: want a string`},
		{`[` + good, "unexpected EOF"},
		{`[` + good + `,`, "record 1: "},
		{`[` + good + `] []`, "must end after its JSON array"},
		{`[` + good + `}`, "record 1: "},
		{`[` + good[:len(good)-10], "record 0: "},
		{"[{\"conversations\": [{\"value\": \"a\nb\"}]}]", "record 0: "},
	}
	for _, tt := range tests {
		got, err := ShareGPT{}.Read(strings.NewReader(tt.file), 1)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "sharegpt: ") || got != nil {
			t.Errorf("Read(%.60q) = %v, %v, want an error with %q", tt.file, got, err, tt.want)
		}
	}
	// Members that vLLM ignores can have any value.
	for _, file := range []string{
		`[{"conversations": [7]}, ` + good + `]`,
		`[{"conversations": [{"value": null}]}, ` + good + `]`,
		`[{"id": 7, "conversations": [{"from": 7, "value": "w w w w"}, {"value": "w w w w"}, {"value": null}, 7]}]`,
	} {
		if _, err := (ShareGPT{}).Read(strings.NewReader(file), 1); err != nil {
			t.Errorf("Read(%q): %v", file, err)
		}
	}
	for _, tt := range []struct {
		s    ShareGPT
		n    int
		want string
	}{
		{ShareGPT{Path: "testdata/sharegpt.json"}, 0, "0 requests: want at least 1"},
		{ShareGPT{Path: "testdata/sharegpt.json", Output: -1}, 1, "Output is -1 tokens: want at least 1"},
		{ShareGPT{Path: "testdata/none.json"}, 1, "testdata/none.json"},
		{ShareGPT{Path: "tokenizer/testdata/qwen2-style.json"}, 1, "sharegpt tokenizer/testdata/qwen2-style.json:1: the file is a JSON object"},
	} {
		if _, err := tt.s.Requests(tt.n); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v.Requests(%d) error = %v, want one with %q", tt.s, tt.n, err, tt.want)
		}
	}
}

func FuzzShareGPT(f *testing.F) {
	data, err := os.ReadFile("testdata/sharegpt.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint8(3), uint16(0))
	f.Add([]byte("["+pair(4, 4)+","+pair(2, 9)+"]"), uint8(9), uint16(100))
	f.Add([]byte(`[{"conversations":[{"value":"w w w w"},{"value":"a\ud83d b c d"},7],"conversations":[]}]`), uint8(1), uint16(0))
	f.Fuzz(func(t *testing.T, file []byte, n uint8, output uint16) {
		s := ShareGPT{Output: int(output)}
		requests, err := s.Read(bytes.NewReader(file), int(n))
		if err != nil {
			if requests != nil {
				t.Errorf("Read returned both requests and the error %v", err)
			}
			return
		}
		if len(requests) != int(n) {
			t.Errorf("Read(%q, %d) has %d requests", file, n, len(requests))
		}
		for _, r := range requests {
			prompt := tokenizer.Words{}.Count(r.Prompt)
			switch {
			case prompt < 4, prompt > 1024, prompt+r.MaxTokens > 2048, r.PromptTokens != prompt,
				output == 0 && r.MaxTokens < 4, output > 0 && r.MaxTokens != int(output):
				t.Errorf("Read(%q) has %+v", file, r)
			}
		}
	})
}

func BenchmarkShareGPT(b *testing.B) {
	file := "[" + strings.Repeat(pair(100, 300)+",", 9999) + pair(100, 300) + "]"
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (ShareGPT{}).Read(strings.NewReader(file), 100); err != nil {
			b.Fatal(err)
		}
	}
}
