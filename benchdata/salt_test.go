package benchdata

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// saltedRequests returns requests of the data set that spec describes.
func saltedRequests(t *testing.T, spec string, o Options) []llmbench.Request {
	t.Helper()
	w, err := Open(spec, o)
	assert.NilError(t, err)
	requests, err := w.Requests(10)
	assert.NilError(t, err, spec)
	return requests
}

// wholeText returns all texts of a request.
func wholeText(r llmbench.Request) string {
	text := r.Prompt
	for _, m := range r.Messages {
		text += m.Role + ": " + m.Content + "\n"
	}
	return text
}

// TestSaltGolden compares two things with a golden file, for each kind: a digest of the prompts
// without a salt, and the beginning of a prompt with a salt. The prompts without a salt must never
// change.
func TestSaltGolden(t *testing.T) {
	var b strings.Builder
	all := specs(t)
	for _, k := range Kinds() {
		digest := sha256.New()
		for _, r := range saltedRequests(t, all[k.Name], Options{Seed: 3}) {
			fmt.Fprintln(digest, wholeText(r), r.PromptTokens, r.MaxTokens, r.FixedOutput)
		}
		r := saltedRequests(t, all[k.Name], Options{Seed: 3, Salt: 1})[1]
		fmt.Fprintf(&b, "%s %.8x %d %.60q\n", k.Name, digest.Sum(nil), r.PromptTokens, wholeText(r))
	}
	golden.Assert(t, b.String(), "salt.golden")
}

// TestSalt checks, for every kind, that equal salts give equal requests. Requests with different
// salts must differ at the beginning of every prompt. Their lengths, and which prompts have a common
// beginning, must be the same.
func TestSalt(t *testing.T) {
	t.Parallel()
	for name, tok := range map[string]llmbench.Tokenizer{"words": nil, "qwen2": loadTokenizer(t, "qwen2-style")} {
		for kind, spec := range specs(t) {
			without := saltedRequests(t, spec, Options{Seed: 5, Tokenizer: tok})
			var salted [2][]llmbench.Request
			for i := range salted {
				o := Options{Seed: 5, Salt: uint64(i) + 1, Tokenizer: tok}
				salted[i] = saltedRequests(t, spec, o)
				assert.DeepEqual(t, saltedRequests(t, spec, o), salted[i], uncheckedRequests)
				checkAlike(t, name+" "+kind, orWords(tok), without, salted[i])
			}
			for _, pair := range [][2][]llmbench.Request{{without, salted[0]}, {without, salted[1]}, {salted[0], salted[1]}} {
				seen := map[string]bool{}
				for i := range pair[0] {
					seen[beginning(&pair[0][i])] = true
				}
				for i := range pair[1] {
					assert.Assert(t, !seen[beginning(&pair[1][i])], "%s %s: %.60q", name, kind, wholeText(pair[1][i]))
				}
			}
		}
	}
}

// beginning returns the part of a prompt that a salt changes.
func beginning(r *llmbench.Request) string {
	text := *openingOf(r)
	if strings.ContainsFunc(text, hasNoSpaces) {
		return firstRunes(text, replacedRunes)
	}
	return strings.Join(strings.Fields(text)[:min(openingWords, len(strings.Fields(text)))], " ")
}

// checkAlike checks that salted requests differ from the requests without a salt only in their words.
func checkAlike(t *testing.T, name string, tok llmbench.Tokenizer, without, salted []llmbench.Request) {
	t.Helper()
	assert.Equal(t, len(salted), len(without), name)
	for i, r := range salted {
		was := without[i]
		assert.Equal(t, r.PromptTokens, was.PromptTokens, "%s: %q and %q", name, wholeText(was), wholeText(r))
		assert.Equal(t, r.MaxTokens, was.MaxTokens, name)
		assert.Equal(t, r.FixedOutput, was.FixedOutput, name)
		assert.Equal(t, len(r.Messages), len(was.Messages), name)
		tokens := tok.Count(r.Prompt)
		for _, m := range r.Messages {
			tokens += tok.Count(m.Content)
		}
		assert.Equal(t, r.PromptTokens, tokens, name)
		for j := range i {
			before := commonWords(wholeText(without[j]), wholeText(was))
			after := commonWords(wholeText(salted[j]), wholeText(r))
			assert.Equal(t, before >= 8, after >= 8, "%s: requests %d and %d have %d words in common, with a salt %d", name, j, i, before, after)
			if _, words := tok.(tokenizer.Words); words && before >= 8 {
				assert.Equal(t, before, after, name)
			}
		}
	}
}

// commonWords returns the number of equal words at the beginning of a and b.
func commonWords(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i
		}
	}
	return min(len(x), len(y))
}

// TestSaltOfTexts checks which part of a text a salt does not change.
func TestSaltOfTexts(t *testing.T) {
	qwen := loadTokenizer(t, "qwen2-style")
	for _, tt := range []struct {
		name, text string
		rest       string // the part of the text that does not change
		tok        llmbench.Tokenizer
	}{
		{"English", "What is the capital of France?", " the capital of France?", qwen},
		{"words", "What is the capital of France?", " the capital of France?", tokenizer.Words{}},
		{"space at the beginning", "\n\n What is it?", " it?", qwen},
		{"two words", "Why not?", "", qwen},
		{"one word", "Why?", "", qwen},
		{"Chinese", "为什么海水是咸的？", "水是咸的？", qwen},
		{"Chinese in quotes", "“为什么海水是咸的？”", "水是咸的？”", qwen},
		{"Chinese after a Latin word", "HTTP 是什么？", " 是什么？", qwen},
		{"two Chinese letters", "海水", "", tokenizer.Words{}},
		{"no spaces", strings.Repeat("abcdefgh", 10), strings.Repeat("abcdefgh", 10)[4:], letters{}},
		{"signs", "+++ --- ***", " ***", tokenizer.Words{}},
		{"broken UTF-8", "\xff\xfe one two", " two", tokenizer.Words{}},
	} {
		s := salter{salt: 7, tok: tt.tok}
		got, err := s.replace(tt.text)
		assert.NilError(t, err)
		assert.Assert(t, got.text != tt.text, tt.name)
		assert.Assert(t, strings.HasSuffix(got.text, tt.rest), "%s: %q", tt.name, got.text)
		assert.Equal(t, tt.tok.Count(tt.text)+got.added, tt.tok.Count(got.text), tt.name)
		assert.Equal(t, got.added, 0, "%s: %q", tt.name, got.text)
	}
}

// TestSaltOfContinuation checks that blocks keep their number of characters.
func TestSaltOfContinuation(t *testing.T) {
	for _, file := range []string{strings.Repeat("海水为什么是咸的呢，谁知道？", 40), strings.Repeat("the sea is salt, who knows why? ", 20)} {
		requests := func(salt uint64) []llmbench.Request {
			all, err := Continuation{Chars: 100, Ask: 50, Output: 9, Salt: salt}.Read(strings.NewReader(file), 5)
			assert.NilError(t, err)
			return all
		}
		was, now := requests(0), requests(3)
		assert.Equal(t, len(was), len(now))
		for i := range was {
			assert.Assert(t, was[i].Prompt[:20] != now[i].Prompt[:20], now[i].Prompt)
			assert.Equal(t, was[i].PromptTokens, now[i].PromptTokens)
			assert.Equal(t, len([]rune(was[i].Prompt)), len([]rune(now[i].Prompt)))
		}
	}
}

// TestSaltOfFiller checks that a salt changes the letters at the beginning but not the lengths.
func TestSaltOfFiller(t *testing.T) {
	requests := func(salt uint64) []llmbench.Request {
		all, err := Filler{Input: 60, Output: 9, Salt: salt}.Requests(5)
		assert.NilError(t, err)
		return all
	}
	was, now := requests(0), requests(3)
	for i := range was {
		assert.Assert(t, was[i].Prompt[:8] != now[i].Prompt[:8], now[i].Prompt)
		assert.Equal(t, was[i].Prompt[2*fillerLetters:], now[i].Prompt[2*fillerLetters:])
		assert.Equal(t, was[i].PromptTokens, now[i].PromptTokens)
	}
}

// TestSaltVaries checks that many salts give many different beginnings, even if words have several
// tokens.
func TestSaltVaries(t *testing.T) {
	t.Parallel()
	for _, tok := range []llmbench.Tokenizer{tokenizer.Words{}, letters{}, loadTokenizer(t, "gpt2-style"), loadTokenizer(t, "qwen2-style")} {
		for _, text := range []string{"I am on a ship to the north of the sea", "in three parts by people who came", "为什么海水是咸的而河水不是"} {
			seen := map[string]bool{}
			for salt := range uint64(1000) {
				s := salter{salt: salt + 1, tok: tok}
				got, err := s.replace(text)
				assert.NilError(t, err)
				assert.Equal(t, got.added, 0, got.text)
				seen[got.text] = true
			}
			assert.Assert(t, len(seen) >= 900, "%T: %d beginnings of 1000 salts for %q", tok, len(seen), text)
		}
	}
}
