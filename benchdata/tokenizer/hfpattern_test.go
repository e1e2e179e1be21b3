package tokenizer

import (
	"strings"
	"testing"
)

// deepSeekPattern and o200kPattern are the patterns in the tokenizer.json files of
// DeepSeek V3 and GPT-OSS.
const (
	deepSeekPattern = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
	o200kPattern    = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// TestNewPatternRejectsExponential checks which patterns are rejected. It also runs the accepted
// patterns on texts on which the rejected patterns would take exponential time.
func TestNewPatternRejectsExponential(t *testing.T) {
	tests := []struct {
		pattern  string
		rejected bool
	}{
		{byteLevelPattern, false},
		{qwen2Pattern, false},
		{llama3Pattern, false},
		{deepSeekPattern, false},
		{o200kPattern, false},
		{`\p{N}{1,3}(?=(?:\p{N}{3})*\b)`, false},  // SuperBPE
		{`(?=(\d{3})+(?!\d))`, false},             // SuperBPE, older
		{`[^\r\n\p{L}\p{N}]?+\p{L}++|\s+`, false}, // possessive repeats, as in cl100k
		{`(?:\p{L}\p{M}*)+|\s+`, false},           // the repeated group is at the end
		{`a*a*b`, false},                          // polynomial time
		{`(?:ab?)?c`, false},                      // the group is not repeated
		{`(?:(?>a+)b)*`, false},                   // an atomic group has one way to match
		{`(?:[ab]{3}){2,}`, false},                // always the same length
		{`(?:a+)+b`, false},                       // regexp2 simplifies this to a+b
		{`(a*a*)*b`, true},
		{`(a+)+b`, true},
		{`(?:a|ab|b)*c`, true},
		{`(?:a|ab|b)*?c`, true},
		{`(?:a|ab|b){2,40}c`, true},
		{`(?>(?:a|ab|b){2,40})`, true},
		{`x(?=(?:a|ab|b)+c)`, true},
		{`x(?!(?:a|ab|b)+c)`, true},
		{`(?>(?:a|ab|b)+c)`, true},
		{`(?:(?:ab?)*b)*c`, true},
		{`(a)?(?:(?(1)a+|b))*c`, true},
		{`(?:\p{L}\p{M}*)+x`, true}, // harmless, but rejected too
	}
	for _, tt := range tests {
		p, err := newPattern(tt.pattern)
		if rejected := err != nil && strings.Contains(err.Error(), "take exponential time"); rejected != tt.rejected || err != nil && !rejected {
			t.Errorf("newPattern(%q) error = %v, want one about exponential time: %t", tt.pattern, err, tt.rejected)
		}
		if err == nil {
			for _, unit := range []string{"a", "ab", "1", "a\u0301"} {
				p.find("x" + strings.Repeat(unit, 200) + "!")
			}
		}
	}
}

func TestNewPatternRejectsNestedClasses(t *testing.T) {
	for pattern, rejected := range map[string]bool{
		`[a[bc]]`:                  true,
		`[\p{L}&&[^a]]`:            true,
		`[\p{L}&&\p{Lu}]`:          true,
		`[^[:alpha:]]`:             true,
		` ?[^(\s|[.,!?…。，、।۔،])]+`: true, // BLOOM
		`[^\]x]+[[]`:               true,
		`a&&b`:                     false,
		`[&a]&[&]`:                 false,
		`\[[a]\[[]]`:               false,
		`[]]`:                      false,
		`[^]a]+`:                   false,
		`[\[a]`:                    false,
		`[a]]`:                     false,
		deepSeekPattern:            false,
	} {
		if _, err := newPattern(pattern); (err != nil) != rejected {
			t.Errorf("newPattern(%q) error = %v, want one: %t", pattern, err, rejected)
		}
	}
}

// TestPatternFindHasNoLimit runs searches that need more memory than regexp2 allows by default.
func TestPatternFindHasNoLimit(t *testing.T) {
	const n = 300_000
	for _, tt := range []struct{ pattern, text string }{
		{`(?:[0-9]{3})*x`, strings.Repeat("123", n) + "x"},
		{`(?:(?=[0-9])\p{N})+`, strings.Repeat("1", n)},
	} {
		p, err := newPattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.find(tt.text); len(got) != 1 || got[0][0] != 0 || got[0][1] != len(tt.text) {
			t.Errorf("pattern %q on %d bytes: found %.100v, want all of them", tt.pattern, len(tt.text), got)
		}
	}
}

// TestHuggingFaceLongRuns counts the tokens of long runs of one or two characters. A pattern that
// searches the same text repeatedly would take too long on such runs.
func TestHuggingFaceLongRuns(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"gpt2-style", "qwen2-style", "llama3-style"} {
		tok := load(t, "testdata/"+name+".json")
		for _, unit := range []string{" ", "\n", "a", "A", "1", "!", "'", "港", " \n", "a ", "\t ", "  x"} {
			text := strings.Repeat(unit, n)
			total := 0
			for _, p := range tok.pieces(text, true) {
				total += len([]rune(p.text)) // one character for each byte
			}
			if n := tok.Count(text); total != len(text) || n < 1 || n > len(text) {
				t.Errorf("%s: %q %d times = %d bytes in pieces, %d tokens; want %d bytes", name, unit, n, total, n, len(text))
			}
		}
	}
}
