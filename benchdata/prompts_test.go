package benchdata

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// letters is a tokenizer that counts characters. No word is a single token, and most lengths are
// possible only with particular last words.
type letters struct{}

func (letters) Count(text string) int { return len(text) }

// even is a tokenizer that never counts an odd number of tokens.
type even struct{}

func (even) Count(text string) int { return 2 * tokenizer.Words{}.Count(text) }

// nothing is a broken tokenizer that counts 0 tokens in every text.
type nothing struct{}

func (nothing) Count(string) int { return 0 }

func exactTokenizers(t testing.TB) map[string]llmbench.Tokenizer {
	return map[string]llmbench.Tokenizer{
		"nil":     nil,
		"Words":   tokenizer.Words{},
		"letters": letters{},
		"gpt2":    loadTokenizer(t, "gpt2-style"),
		"qwen2":   loadTokenizer(t, "qwen2-style"),
	}
}

func mustRequests(t testing.TB, p Prompts, n int) []llmbench.Request {
	t.Helper()
	requests, err := p.Requests(n)
	if err != nil {
		t.Fatalf("%+v.Requests(%d): %v", p, n, err)
	}
	if len(requests) != n {
		t.Fatalf("%+v.Requests(%d) has %d", p, n, len(requests))
	}
	return requests
}

func TestPromptsGolden(t *testing.T) {
	var b strings.Builder
	for _, p := range []Prompts{
		{Input: 20, Output: 5},
		{Input: 20, Output: 5, Seed: 1},
		{Input: 20, Output: 5, Seed: 1, SharedPrefix: 10},
		{Input: 40, Output: 5, Seed: 1, Template: 10, Tokenizer: loadTokenizer(t, "llama3-style")},
		{Input: 20, Output: 5, Seed: 1, Tokenizer: tokenizer.Estimate{PerWord: 1.3}},
	} {
		fmt.Fprintf(&b, "%T seed %d\n", p.Tokenizer, p.Seed)
		for _, r := range mustRequests(t, p, 3) {
			fmt.Fprintf(&b, "  %d %d %v %q\n", r.PromptTokens, r.MaxTokens, r.FixedOutput, r.Prompt)
		}
	}
	golden.Assert(t, b.String(), "prompts.golden")
}

func TestPromptsAreExact(t *testing.T) {
	t.Parallel()
	for name, tok := range exactTokenizers(t) {
		for _, input := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 63, 100, 128, 255, 511, 512, 1000, 3000} {
			if name == "letters" && (input < 3 || input == 7) {
				continue // no word is that short
			}
			if strings.HasSuffix(name, "2") && input == 1 {
				continue // the small vocabularies have no word without a space before it
			}
			for seed := range uint64(5) {
				p := Prompts{Input: input, Output: 9, Seed: seed, Tokenizer: tok}
				for i, r := range mustRequests(t, p, 3) {
					if got := orWords(tok).Count(r.Prompt); got != input {
						t.Errorf("%s: Input %d, Seed %d: prompt %d has %d tokens: %q", name, input, seed, i, got, r.Prompt)
					}
					if r.PromptTokens != input || r.MaxTokens != 9 || !r.FixedOutput || r.Messages != nil {
						t.Errorf("%s: Input %d: request %+v", name, input, r)
					}
				}
			}
		}
	}
}

func TestPromptsSharePrefix(t *testing.T) {
	for name, tok := range exactTokenizers(t) {
		for _, tt := range []struct{ input, prefix int }{{64, 16}, {64, 32}, {200, 50}, {512, 448}, {40, 39}} {
			if name == "letters" && tt.input-tt.prefix < 4 {
				continue // a space and a word have at least four letters
			}
			count := orWords(tok).Count
			p := Prompts{Input: tt.input, Output: 1, Seed: 3, SharedPrefix: tt.prefix, Tokenizer: tok}
			requests := mustRequests(t, p, 20)
			prefix := common(requests[0].Prompt, requests[1].Prompt)
			for i, r := range requests {
				if got := count(r.Prompt); got != tt.input {
					t.Errorf("%s: %+v: prompt %d has %d tokens", name, tt, i, got)
				}
				if !strings.HasPrefix(r.Prompt, prefix) {
					t.Errorf("%s: %+v: prompt %d does not begin with %q: %q", name, tt, i, prefix, r.Prompt)
				}
				for j := range i {
					if len(common(requests[j].Prompt, r.Prompt)) > len(prefix) && tt.prefix < 39 {
						t.Errorf("%s: %+v: prompts %d and %d share more than the prefix %q", name, tt, j, i, prefix)
					}
				}
			}
			if got := count(prefix); got != tt.prefix {
				t.Errorf("%s: %+v: prefix has %d tokens: %q", name, tt, got, prefix)
			}
		}
	}
}

// common returns the words at the beginning of both a and b.
func common(a, b string) string {
	x, y := strings.Fields(a), strings.Fields(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return strings.Join(x[:n], " ")
}

// TestPromptsHaveNoCommonPrefix checks 2,000 requests with two seeds. The first 16 tokens of all of
// them must differ, so that a prefix cache has nothing to reuse.
func TestPromptsHaveNoCommonPrefix(t *testing.T) {
	t.Parallel()
	bpe := loadTokenizer(t, "llama3-style")
	first16 := map[string]func(string) string{
		"Words":   func(s string) string { return strings.Join(strings.Fields(s)[:16], " ") },
		"letters": func(s string) string { return s[:16] },
		"bpe":     func(s string) string { return fmt.Sprint(bpe.Encode(s)[:16]) },
	}
	tokenizers := map[string]llmbench.Tokenizer{"Words": nil, "letters": letters{}, "bpe": bpe}
	for name, first := range first16 {
		seen := map[string]string{}
		for _, p := range []Prompts{
			{Input: 64, Output: 1, Seed: 1}, {Input: 64, Output: 1, Seed: 2}, {Input: 65, Output: 1, Seed: 3},
		} {
			if name == "letters" && p.Seed > 1 {
				continue // 16 letters are about two words
			}
			p.Tokenizer = tokenizers[name]
			for i, r := range mustRequests(t, p, 2000) {
				where := fmt.Sprintf("seed %d request %d", p.Seed, i)
				if other, ok := seen[first(r.Prompt)]; ok {
					t.Errorf("%s: %s and %s both begin with %q", name, other, where, first(r.Prompt))
				}
				seen[first(r.Prompt)] = where
			}
		}
	}
	words := map[string]bool{}
	for _, r := range mustRequests(t, Prompts{Input: 2, Output: 1}, 1000) {
		word, _, _ := strings.Cut(r.Prompt, " ")
		words[word] = true
	}
	if len(words) != 1000 {
		t.Errorf("1000 requests begin with %d different words, want 1000", len(words))
	}
	pairs := map[string]bool{}
	for _, r := range mustRequests(t, Prompts{Input: 2, Output: 1}, 100_000) {
		pairs[r.Prompt] = true
	}
	if len(pairs) != 100_000 {
		t.Errorf("100,000 prompts of two words have %d different texts, want 100,000", len(pairs))
	}
}

// TestPromptsAreAPrefix checks that Requests(n) returns the first n requests of a larger n.
func TestPromptsAreAPrefix(t *testing.T) {
	for name, tok := range exactTokenizers(t) {
		p := Prompts{Input: 50, Output: 1, Seed: 9, SharedPrefix: 8, Tokenizer: tok}
		all := mustRequests(t, p, 30)
		for n := 1; n < 30; n += 7 {
			for i, r := range mustRequests(t, p, n) {
				if r.Prompt != all[i].Prompt {
					t.Errorf("%s: Requests(%d)[%d] is %q, Requests(30)[%d] is %q", name, n, i, r.Prompt, i, all[i].Prompt)
				}
			}
		}
	}
}

func TestPromptsWithEstimate(t *testing.T) {
	for _, perWord := range []float64{0.4, 0.9, 1, 1.29, 1.5, 2.7, 5} {
		e := tokenizer.Estimate{PerWord: perWord}
		for input := 8; input < 600; input += 13 {
			for _, r := range mustRequests(t, Prompts{Input: input, Output: 1, Tokenizer: e}, 2) {
				if got := e.Count(r.Prompt); abs(got-input) > e.Tolerance() {
					t.Errorf("%g tokens a word: a prompt of %d tokens has %d, want a difference of at most %d", perWord, input, got, e.Tolerance())
				}
			}
		}
	}
}

func TestPromptsErrors(t *testing.T) {
	tests := []struct {
		p    Prompts
		n    int
		want string
	}{
		{Prompts{Input: 1, Output: 1}, 0, "0 requests: want at least 1"},
		{Prompts{Output: 1}, 1, "Input is 0 tokens: want at least 1"},
		{Prompts{Input: -3, Output: 1, SharedPrefix: -9}, 1, "Input is -3 tokens: want at least 1"},
		{Prompts{Input: 1}, 1, "Output is 0 tokens: want at least 1"},
		{Prompts{Input: 8, Output: 1, SharedPrefix: -1}, 1, "SharedPrefix is -1 tokens: want from 0 to 7"},
		{Prompts{Input: 8, Output: 1, SharedPrefix: 8}, 1, "SharedPrefix is 8 tokens: want from 0 to 7"},
		{Prompts{Input: 8, Output: 1, SharedPrefix: 5, Template: 3}, 1, "SharedPrefix is 5 tokens: want from 0 to 4"},
		{Prompts{Input: 8, Output: 1, Template: 8}, 1, "Template is 8 tokens: want from 0 to 7"},
		{Prompts{Input: 8, Output: 1, Template: -1}, 1, "Template is -1 tokens: want from 0 to 7"},
		{Prompts{Input: 7, Output: 1, Tokenizer: even{}}, 1, "request 0: no text of 7 tokens found in 400 tries, the closest is"},
		{Prompts{Input: 8, Output: 1, SharedPrefix: 3, Tokenizer: even{}}, 1, "the common prefix: no text of 3 tokens"},
		{Prompts{Input: 512, Output: 1, Tokenizer: nothing{}}, 1, "no text of 512 tokens found: the tokenizer counts 0"},
	}
	for _, tt := range tests {
		got, err := tt.p.Requests(tt.n)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "prompts: ") || got != nil {
			t.Errorf("%+v.Requests(%d) = %v, %v, want an error with %q", tt.p, tt.n, got, err, tt.want)
		}
	}
}

func BenchmarkPrompts(b *testing.B) {
	for _, bb := range []struct {
		name string
		tok  llmbench.Tokenizer
	}{
		{"words", tokenizer.Words{}},
		{"estimate", tokenizer.Estimate{PerWord: 1.3}},
		{"huggingface", loadTokenizer(b, "llama3-style")},
	} {
		b.Run("tokenizer="+bb.name+"/requests=1000", func(b *testing.B) {
			p := Prompts{Input: 512, Output: 1, Tokenizer: bb.tok}
			for b.Loop() {
				if _, err := p.Requests(1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
