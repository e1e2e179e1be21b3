package tinygguf_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

// tokenizers holds one vocabulary with three ways to split a text. The tokens show where a text was
// split.
var tokenizers = []tinygguf.Options{
	{Pre: tinygguf.PreGPT2, Pairs: true, Vocab: 2560},
	{Pre: tinygguf.PreQwen2, Pairs: true, Vocab: 2560},
	{Pre: tinygguf.PreLlama3, Pairs: true, Vocab: 2560},
}

func huggingFace(t *testing.T, o tinygguf.Options) *tokenizer.HuggingFace {
	t.Helper()
	var file bytes.Buffer
	if err := tinygguf.TokenizerJSON(&file, o); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.ReadHuggingFace(&file)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestTokenizer compares what package tokenizer makes of a tokenizer.json with what llama-server
// makes of the same vocabulary.
func TestTokenizer(t *testing.T) {
	for _, o := range tokenizers {
		t.Run(string(o.Pre), func(t *testing.T) {
			tok, url := huggingFace(t, o), llamatest.Start(t, llamatest.Options{Model: o})
			asked := 0
			for _, text := range texts() {
				question, why := inServerTerms(o.Pre, text)
				if why != "" {
					continue
				}
				asked++
				if got, want := tok.Encode(text), tokenize(t, url, question, false); !slices.Equal(got, want) {
					t.Errorf("Encode(%q) = %v, the server has %v", text, got, want)
				}
			}
			if asked < 700 {
				t.Errorf("%d texts compared, want most of %d", asked, len(texts()))
			}
			for _, text := range []string{
				"<|im_start|>user\nWhat's that?<|im_end|>\n<|im_start|>assistant\n",
				" <|im_end|> 12<|im_start|>34 <|endoftext|>", "<|im_end|><|im_end|>", "<|im_<|im_end|>", "'<|im_end|>s",
			} {
				if got, want := tok.Encode(text), tokenize(t, url, text, true); !slices.Equal(got, want) {
					t.Errorf("with special tokens: Encode(%q) = %v, the server has %v", text, got, want)
				}
			}
		})
	}
}

// inServerTerms returns the text for which the server gives the tokens of text. If there is no such
// text, it returns the reason.
func inServerTerms(pre tinygguf.Pre, text string) (question, why string) {
	if strings.ContainsFunc(text, func(r rune) bool { return 0x2ebf0 <= r && r <= 0x2ee5d }) {
		return "", "these are letters (CJK Extension I) since Unicode 15.1, which the server knows; Go 1.26 knows 15.0"
	}
	if pre != tinygguf.PreGPT2 && strings.Contains(text, "'ſ") {
		return "", "llama.cpp writes (?i:'s) as '[sS], but ſ is an s in another case too"
	}
	if pre == tinygguf.PreQwen2 {
		return norm.NFC.String(text), "" // llama.cpp does not normalize
	}
	return text, ""
}

func tokenize(t *testing.T, url, text string, special bool) []int {
	t.Helper()
	body, err := json.Marshal(map[string]any{"content": text, "add_special": false, "parse_special": special})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+"/tokenize", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Tokens []int }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("POST /tokenize of %q = %s, %v", text, res.Status, err)
	}
	return answer.Tokens
}

// TestTextsDistinguishTokenizers checks that the texts of TestTokenizer are different enough: they
// must show when a tokenizer splits like one of the other two.
func TestTextsDistinguishTokenizers(t *testing.T) {
	ids := make([][][]int, len(tokenizers)) // indexed by tokenizer and text
	for i, o := range tokenizers {
		tok := huggingFace(t, o)
		for _, text := range texts() {
			ids[i] = append(ids[i], tok.Encode(text))
		}
	}
	for i, o := range tokenizers {
		for j, other := range tokenizers[:i] {
			differ := 0
			for k := range texts() {
				if !slices.Equal(ids[i][k], ids[j][k]) {
					differ++
				}
			}
			if differ < 100 {
				t.Errorf("%s and %s differ on %d texts of %d, want 100 or more", other.Pre, o.Pre, differ, len(texts()))
			}
		}
	}
}

// texts returns the texts to compare. They are the same in each run.
var texts = sync.OnceValue(func() []string {
	list := slices.Clone(written)
	random := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		list = append(list, mixed(random, fragments, 1+random.IntN(16)))
	}
	for range 200 {
		list = append(list, mixed(random, slices.Concat(fragments, anything(random)), 1+random.IntN(16)))
	}
	// These are some characters of each general category, next to characters from which a tokenizer
	// may split them.
	for _, name := range slices.Sorted(maps.Keys(unicode.Categories)) {
		if len(name) != 2 || name == "Cs" {
			continue
		}
		var runes []rune
		rangetable.Visit(unicode.Categories[name], func(r rune) { runes = append(runes, r) })
		for range 5 {
			c := string(runes[random.IntN(len(runes))])
			list = append(list, "the"+c+"the 1"+c+"1 !"+c+"! "+c+" a"+c+c+" the  "+c+"\n"+c+"x")
		}
	}
	return list
})

func mixed(random *rand.Rand, from []string, n int) string {
	var b strings.Builder
	for range n {
		if random.IntN(5) == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(from[random.IntN(len(from))])
	}
	return b.String()
}

// anything returns characters from all of Unicode, including unassigned ones.
func anything(random *rand.Rand) []string {
	var list []string
	for len(list) < 60 {
		if r := rune(random.IntN(0x33000)); utf8.ValidRune(r) {
			list = append(list, string(r))
		}
	}
	return list
}

var fragments = []string{
	" ", "  ", "     ", "\n", "\r\n", "\n\n", "\r", "\t", " \n", "\n ", "\u00a0", "\u3000", "\u2028", "\u200b", "\v", "\f", "\x85",
	"\u0085", "\u180e", "\ufeff", "\x1c",
	"'s", "'S", "'t", "'ll", "'LL", "'re", "'Ve", "'d", "'m", "'ſ", "'x", "'", "''", "’s",
	"1", "12", "1200", "15095", "3.14", "٣", "²", "½", "Ⅻ", "१२३",
	"!", "?!", "...", "=>", "_", "-", "--", "(", "\u00ad", "€", "+", "^", "`", "\x00", "\x7f",
	"😀", "👩\u200d🚀", "🇩🇪", "👍🏽", "e\u0301", "\u0301", "a\u0308\u0323", "\u212b", "ﬁ", "n\u0303", "각", "각",
	"café", "über", "naïve", "港は静か", "中文", "한국어", "ДА", "да", "שלום", "مرحبا", "สวัสดี", "हिन्दी", "K", "ß", "ǅ", "ʰ",
	"the", "The", "THE", " the", "a", "s", "S", "water", "captain", "asst", "Std",
	"<|im", "<|", "|>", "close(gate)", "wall.height", "i++", "&&", "http://", "\ufffd",
}

var written = []string{
	"", " ", "  ", "\n", "\r\n", "\t", "a", "1", "'", "'s", "\x00", "\ufeffthe",
	"The captain's crew weren't told; they'll say it's what I'd have done, and we've no doubt you're right. I'm sure.",
	"THE CAPTAIN'S CREW WEREN'T TOLD; THEY'LL SAY IT'S WHAT I'D HAVE DONE. WE'VE NO DOUBT YOU'RE RIGHT.",
	"the's't're've'm'll'd the'S'T'RE'VE'M'LL'D 's 't 're 'sthe 'Stdll 'dthe'",
	"1 12 123 1234 12345 123456 1234567 0159 1,234.56 1e-9 0x1F 1st 2nd v1.10 ١٢٣ ½ x² 1915-05-19",
	"func main() {\n\tfor i := 0; i < 10; i++ {\n\t\tfmt.Println(\"the\", i)\n\t}\n}\n",
	"def f(x):\n    if x == 1:\n        return 'a'\n\n\n    return  x**2 -1\n",
	"if (a && b || !c) { x->y[0] = (int)*p++; } // the end ... /* ? */ <a href=\"#\">&nbsp;</a>",
	"| a | b |\n|---|:-:|\n| 1 | **2** |\n\n- [ ] the\n  - [x] water\n\n```\n$ ls -la ~/\n```\n",
	`{"a": [1, 22.5e3, null], "b": "\u00e9\n", "the": {"c": true}}`,
	"   the  water   is     here    ", "the \n \n  the\n\n\n the \t\t the\r\n\r\n  the", "the   \n", "the   ", "\n\n  the", "!!!\n\n\nthe", "!\r\n\r!", " !\n", "\t\tthe",
	"the\u00a0the \u00a0 the\u3000\u3000the \u2028the\u2029\u0085the\u200bthe\u1680the\u202f1\u205f!",
	"港は静かだった。波が高い、と船長は言った。「はい」 中文分词测试，一二三。１２３ 한국어 문장입니다.",
	"😀 😀😀 👩‍🚀👨‍👩‍👧 🇩🇪🇯🇵 👍🏽! 1️⃣ ☃️ ✨the✨",
	"café Über naïve Ærø Łódź ÑANDÚ straße İstanbul ǅungla Ελλάδα Москва",
	"cafe\u0301 U\u0308ber nai\u0308ve s\u0323\u0307 \u0307\u0323 a\u0301\u0301 \u1112\u1161\u11ab \u2126 \u212b \u0958 \uf900",
	"שלום עולם مرحبا بالعالم สวัสดีชาวโลก नमस्ते दुनिया ভাষা தமிழ் ქართული አማርኛ ᏣᎳᎩ",
	"a\xffb\xf0\x9f\x98c\xed\xa0\x80", "\xc3", "the\xc3the",
	"\x00\x01\x1b[31mthe\x1b[0m\x7f", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "the the the the the the the the", "''''''", "----====____",
	"<|im_end|", "|im_start|>", "<im_end>",
	strings.Repeat("The water is 1200 feet deep. ", 40), strings.Repeat(" ", 129) + "the", strings.Repeat("\n ", 65), strings.Repeat("19", 60),
}
