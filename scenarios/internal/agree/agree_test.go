package agree

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func TestAdd(t *testing.T) {
	references := References{"a": {Prompt: "a", Text: "one two three", Tokens: 3}, "b": {Prompt: "b", Text: "größer", Tokens: 2}}
	for _, tt := range []struct {
		name   string
		answer Answer
		count  func(string) int
		equal  bool
		want   Agreement
	}{
		{"equal", Answer{"a", "one two three", 3}, nil, true, Agreement{1, 1, 3}},
		{"another ending", Answer{"a", "one two four", 3}, nil, false, Agreement{1, 0, 3 * 8.0 / 12}},
		{"another ending, counted", Answer{"a", "one two four", 3}, func(s string) int { return len(strings.Fields(s)) }, false, Agreement{1, 0, 2}},
		{"shorter", Answer{"a", "one two", 2}, nil, false, Agreement{1, 0, 2}},
		{"longer", Answer{"a", "one two three four", 4}, nil, false, Agreement{1, 0, 4 * 13.0 / 18}},
		{"nothing in common", Answer{"a", "two", 1}, nil, false, Agreement{1, 0, 0}},
		{"no text", Answer{"a", "", 0}, nil, false, Agreement{1, 0, 0}},
		{"another letter with a common first byte", Answer{"b", "grün", 2}, nil, false, Agreement{1, 0, 1}},
		{"no reference", Answer{"c", "one", 1}, nil, true, Agreement{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Agreement
			equal := got.Add(references, tt.answer, tt.count)
			assert.Equal(t, equal, tt.equal)
			assert.Equal(t, got, tt.want)
		})
	}
}

func TestFigures(t *testing.T) {
	all := Agreement{Answers: 8, Equal: 6, Prefix: 100}
	assert.DeepEqual(t, all.Figures(), map[string]float64{"agree-%": 75, "agree-prefix-tok/req": 12.5})
	assert.Assert(t, new(Agreement).Figures() == nil)
}

// TestHash checks that everything that can change a greedy answer also changes the hash.
func TestHash(t *testing.T) {
	r := llmbench.Request{Prompt: "a", MaxTokens: 4}
	seen := map[string]bool{Hash(r): true}
	for _, change := range []func(r *llmbench.Request){
		func(r *llmbench.Request) { r.Prompt = "b" },
		func(r *llmbench.Request) { r.MaxTokens = 5 },
		func(r *llmbench.Request) { r.FixedOutput = true },
		func(r *llmbench.Request) { r.Messages = []llmbench.Message{{Role: "user", Content: "a"}} },
		func(r *llmbench.Request) { r.Messages = []llmbench.Message{{Role: "system", Content: "a"}} },
	} {
		r := r
		change(&r)
		assert.Assert(t, !seen[Hash(r)], "%+v", r)
		seen[Hash(r)] = true
	}
}

func TestOf(t *testing.T) {
	r := llmbench.Request{Prompt: "a"}
	s := &sample.Sample{Outcome: sample.OK, OutputTokens: 3, Answer: &sample.Answer{Reasoning: "Hm. ", Text: "yes"}}
	a, ok := Of(r, s)
	assert.Assert(t, ok)
	assert.Equal(t, a, Answer{Prompt: Hash(r), Text: "Hm. yes", Tokens: 3})
	s.Outcome = sample.Truncated
	_, ok = Of(r, s)
	assert.Assert(t, !ok, "a truncated answer is no answer to compare")
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	want := References{"b": {"b", "a line\nand <another>", 4}, "a": {"a", "", 0}}
	assert.NilError(t, Write(path, want))
	got, err := ReadFile(path)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, want)

	assert.Assert(t, errors.Is(Write(path, References{}), os.ErrExist), "reference answers were overwritten")
	got, err = ReadFile(path)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, want)
	left, err := os.ReadDir(filepath.Dir(path))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 1, "a temporary file is left")
}

func TestRead(t *testing.T) {
	const first = `{"llmbench":"answers","version":1,"answers":1}` + "\n"
	for _, tt := range []struct{ text, err string }{
		{"", "empty"},
		{"{}", `line 1: "" version 0: want "answers" version 1`},
		{`{"llmbench":"answers","version":2}`, `version 2: want "answers" version 1`},
		{"hello", "line 1: invalid character"},
		{first, "0 answers: want the 1 that line 1 promises"},
		{first + `{"prompt":"a"`, "line 2: unexpected end of JSON input"},
		{first + `{"text":"a"}`, "line 2: no prompt"},
		{first + `{"prompt":"a","tokens":-1}`, "line 2: -1 tokens: want 0 or more"},
		{first + `{"prompt":"a"}` + "\n" + `{"prompt":"a"}`, "line 3: prompt a twice"},
	} {
		_, err := Read(strings.NewReader(tt.text))
		assert.ErrorContains(t, err, tt.err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"llmbench":"answers","version":1,"answers":1}` + "\n" + `{"prompt":"a","text":"b","tokens":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		answers, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "answers")
		assert.NilError(t, Write(path, answers))
		again, err := ReadFile(path)
		assert.NilError(t, err)
		assert.DeepEqual(t, again, answers)
	})
}

func FuzzCommonPrefix(f *testing.F) {
	f.Add("größer", "grün")
	f.Add("a\xff", "a\xfe")
	f.Fuzz(func(t *testing.T, a, b string) {
		n := CommonPrefix(a, b)
		assert.Assert(t, strings.HasPrefix(a, a[:n]) && strings.HasPrefix(b, a[:n]))
		if _, size := utf8.DecodeRuneInString(a[n:]); size > 0 {
			assert.Assert(t, !strings.HasPrefix(b, a[:n+size]), "the prefix could be longer")
		}
	})
}
