package tokenizer

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

func load(t testing.TB, path string) *HuggingFace {
	t.Helper()
	tok, err := LoadHuggingFace(path)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// fragments are parts of random texts. The patterns treat them differently.
var fragments = []string{
	" ", "  ", "     ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2028", "\v", "\x85",
	"'s", "'S", "'ll", "'LL", "'re", "'Ve", "'d", "'ſ", "'x", "'", "''",
	"1", "12", "1200", "3.14", "٣", "²", "½",
	"!", "?!", "...", "=>", "_", "-", "\u00ad", "€", "😀", "👩\u200d🚀", "e\u0301", "\u0301", "\x00",
	"café", "über", "港は静か", "中文", "ДА", "K", "ß", "the", "The", "THE", "a", "wave", "captain",
	"harbor", "<|im", "<|", "|>", "close(gate)", "wall.height",
}

func randomText(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		if random.IntN(4) == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(fragments[random.IntN(len(fragments))])
	}
	return b.String()
}

func TestHuggingFaceAgreesWithReference(t *testing.T) {
	for _, tr := range trainedTokenizers {
		t.Run(tr.name, func(t *testing.T) {
			tok := load(t, tr.path())
			texts := []string{"", " ", "\n", "a", trainingText, strings.Repeat("a", 300), strings.Repeat(" ", 300) + "x"}
			random := rand.New(rand.NewPCG(1, 2))
			for range 3000 {
				texts = append(texts, randomText(random, 1+random.IntN(20)))
			}
			for _, text := range texts {
				got := tok.Encode(text)
				if want := tr.ref.encode(text); !slices.Equal(got, want) {
					t.Fatalf("Encode(%q) = %v, want %v", text, got, want)
				}
				if n := tok.Count(text); n != len(got) {
					t.Fatalf("Count(%q) = %d, want %d", text, n, len(got))
				}
			}
		})
	}
}

// TestHuggingFaceByHand compares tokens with expected tokens that were determined by hand. The merges
// are l+o, lo+w, e+r, Ġ+low.
func TestHuggingFaceByHand(t *testing.T) {
	const file = `{"added_tokens": [
		{"id": 90, "content": "<end>", "special": true},
		{"id": 91, "content": "<end>r", "special": true},
		{"id": 92, "content": "<wide>", "lstrip": true, "rstrip": true},
		{"id": 93, "content": "er!", "single_word": true}],
	"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": ADD},
	"model": {"type": "BPE", "ignore_merges": IGNORE,
		"vocab": {"l":0,"o":1,"w":2,"e":3,"r":4,"Ġ":5,"lo":6,"low":7,"er":8,"Ġlow":9,"wer":10,"!":11,"ã":12,"ģ":13,"Ĥ":14},
		"merges": ["l o", "lo w", "e r", "Ġ low"]}}`
	tests := []struct {
		text        string
		add, ignore string
		want        []int
	}{
		{"low", "false", "false", []int{7}},
		{"lower", "false", "false", []int{7, 8}},
		{"lower low", "false", "false", []int{7, 8, 9}},
		{"lower low", "true", "false", []int{9, 8, 9}},
		{" low", "true", "false", []int{9}},
		{"wer", "false", "false", []int{2, 8}}, // no merge produces wer
		{"wer", "false", "true", []int{10}},
		{"low<end>low", "false", "false", []int{7, 90, 7}},
		{"low<end>re", "false", "false", []int{7, 91, 3}}, // the longest added token matches
		{"low  <wide>  low", "false", "false", []int{7, 92, 7}},
		{"low er! low", "false", "false", []int{7, 5, 93, 9}},
		{"lower!", "false", "false", []int{7, 8, 11}}, // a single_word token does not match inside a word
		{"<end>", "true", "false", []int{90}},
		{"lxo", "false", "false", []int{6}},    // x is not in the vocabulary, and there is no unk_token
		{"ぃ", "false", "false", []int{12, 13}}, // bytes e3 81 83; 83 is not in the vocabulary
	}
	for _, tt := range tests {
		tok, err := ReadHuggingFace(strings.NewReader(strings.NewReplacer("ADD", tt.add, "IGNORE", tt.ignore).Replace(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("add_prefix_space %s, ignore_merges %s: Encode(%q) = %v, want %v", tt.add, tt.ignore, tt.text, got, tt.want)
		}
	}
}

// TestHuggingFaceNormalForms uses a text that is different in each of the four normal forms: e and
// a combining mark, the Ångström sign, the ligature fi.
func TestHuggingFaceNormalForms(t *testing.T) {
	const text = "e\u0301\u212b\ufb01<e\u0301>"
	for form, want := range map[string]string{
		"NFC":  "é Å ﬁ",
		"NFD":  "e \u0301 A \u030a ﬁ",
		"NFKC": "é Å f i",
		"NFKD": "e \u0301 A \u030a f i",
	} {
		vocab := map[string]int{"é": 0, "Å": 1, "ﬁ": 2, "e": 3, "\u0301": 4, "A": 5, "\u030a": 6, "f": 7, "i": 8}
		file, err := json.Marshal(object{
			"normalizer": object{"type": form},
			"model":      object{"type": "BPE", "vocab": vocab, "merges": []string{}},
			// An added token matches before normalization.
			"added_tokens": []object{{"id": 9, "content": "<e\u0301>"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		tok, err := ReadHuggingFace(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var ids []int
		for char := range strings.FieldsSeq(want) {
			ids = append(ids, vocab[char])
		}
		if got := tok.Encode(text); !slices.Equal(got, append(ids, 9)) {
			t.Errorf("%s: Encode(%q) = %v, want %v", form, text, got, append(ids, 9))
		}
	}
}

// TestHuggingFaceSentencePiece tests the layout of Llama 2: a visible character for
// spaces, bytes for characters that are not in the vocabulary, no pre-tokenizer.
func TestHuggingFaceSentencePiece(t *testing.T) {
	const model = `"model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": BYTES,
		"vocab": {"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,"a":4,"b":5,"ab":6,"▁ab":7,"▁▁":8},
		"merges": ["a b", "▁ ab", "▁ ▁"]}}`
	const normalizer = `{"normalizer": {"type": "Sequence", "normalizers": [
		{"type": "Prepend", "prepend": "▁"},
		{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, "pre_tokenizer": null, ` + model
	const first = `{"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false},
		"added_tokens": [{"id": 9, "content": "<s>"}], ` + model
	const apart = `{"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}, ` + model
	tests := []struct {
		file, bytes, text string
		want              []int
	}{
		{normalizer, "true", "ab ab", []int{7, 7}},
		{normalizer, "true", "ab  ab", []int{7, 3, 7}},
		{normalizer, "true", "é", []int{3, 1, 2}},
		{normalizer, "false", "éé", []int{3, 0}}, // one unknown token for the run
		{normalizer, "false", "éaé", []int{3, 0, 4, 0}},
		{normalizer, "true", "ü", []int{3, 0}}, // not all of its bytes are in the vocabulary
		{normalizer, "true", "", nil},
		{normalizer, "true", "   ", []int{8, 8}},
		{first, "true", "ab<s>ab ab", []int{7, 9, 6, 7}},
		{first, "true", "<s>ab", []int{9, 6}},
		{apart, "true", "ab  ab", []int{7, 3, 7}},
		{apart, "true", "   ", []int{3, 3, 3}}, // each space is a piece
	}
	for _, tt := range tests {
		tok, err := ReadHuggingFace(strings.NewReader(strings.ReplaceAll(tt.file, "BYTES", tt.bytes)))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%.60s: Encode(%q) = %v, want %v", tt.file, tt.text, got, tt.want)
		}
	}
}

func TestHuggingFaceErrors(t *testing.T) {
	const bpe = `{"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}`
	tests := []struct{ name, file, want string }{
		{"empty", ``, "EOF"},
		{"not JSON", `#version: 0.2`, "invalid character"},
		{"two values", `{"model": ` + bpe + `} {}`, "data after"},
		{"no model", `{}`, "model: is missing"},
		{"Unigram", `{"model": {"type": "Unigram", "vocab": {}}}`, `type is "Unigram": want BPE`},
		{"vocab list", `{"model": {"type": "Unigram", "vocab": [["a", 0.5]]}}`, "cannot unmarshal"},
		{"no vocab", `{"model": {"type": "BPE", "merges": []}}`, "vocab is empty"},
		{"negative id", `{"model": {"type": "BPE", "vocab": {"d": -4, "c": -3, "b": -2, "a": -1}}}`, `token "a" has id -1`},
		{"merge of nothing", `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a z"]}}`, `merge 0 is "a" and "z"`},
		{"merge of one", `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["az"]}}`, `merge "az" has no space`},
		{"merge of three", `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b", "c"]]}}`, "has 3 strings"},
		{"merge of number", `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [1]}}`, "cannot unmarshal number"},
		{"dropout", `{"model": {"type": "BPE", "vocab": {"a": 0}, "dropout": 0.1}}`, "dropout is 0.1"},
		{"unk", `{"model": {"type": "BPE", "vocab": {"a": 0}, "unk_token": "<unk>"}}`, `unk_token is "<unk>"`},
		{"suffix", `{"model": {"type": "BPE", "vocab": {"a": 0}, "end_of_word_suffix": "</w>"}}`, "end_of_word_suffix"},
		{"prefix", `{"model": {"type": "BPE", "vocab": {"a": 0}, "continuing_subword_prefix": "##"}}`, "continuing_subword_prefix"},
		{"normalizer", `{"model": ` + bpe + `, "normalizer": {"type": "Lowercase"}}`, `normalizer: type is "Lowercase"`},
		{"inner normalizer", `{"model": ` + bpe + `, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nmt"}]}}`, `type is "Nmt"`},
		{"replace", `{"model": ` + bpe + `, "normalizer": {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}}`, "no String pattern"},
		{"pre_tokenizer", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "BertPreTokenizer"}}`, `pre_tokenizer: type is "BertPreTokenizer"`},
		{"no pattern", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Split", "behavior": "Isolated"}}`, "has no pattern"},
		{"behavior", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": "Odd"}}`, `behavior "Odd"`},
		{"bad pattern", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}}`, `pattern "("`},
		{"exponential pattern", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a*a*)*b"}, "behavior": "Isolated"}}`, `pattern "(a*a*)*b" repeats a group`},
		{"intersection", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[\\p{L}&&[^a]]"}, "behavior": "Isolated"}}`, "intersection"},
		{"replacement", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}}`, `replacement "ab"`},
		{"scheme", `{"model": ` + bpe + `, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"}}`, `prepend_scheme "last"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadHuggingFace(strings.NewReader(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadHuggingFace error = %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := LoadHuggingFace("testdata/none.json"); err == nil || !strings.Contains(err.Error(), "testdata/none.json") {
		t.Errorf("LoadHuggingFace of a missing file: error = %v, want one with its name", err)
	}
}

func TestHuggingFaceOddInput(t *testing.T) {
	tok := load(t, "testdata/qwen2-style.json")
	same := func(a, b string) {
		t.Helper()
		if x, y := tok.Count(a), tok.Count(b); x != y {
			t.Errorf("Count(%q) = %d, Count(%q) = %d, want the same", a, x, b, y)
		}
	}
	same("a\xff\xfeb", "a\ufffd\ufffdb")
	same("\xf0\x9f", "\ufffd\ufffd")
	if n := tok.Count("<|im_start|><|im_end|>"); n != 2 {
		t.Errorf("Count of two added tokens = %d, want 2", n)
	}
	if n := tok.Count(strings.Repeat("\x00", 100)); n != 100 {
		t.Errorf("Count of 100 zero bytes = %d, want 100", n)
	}
}

func TestHuggingFaceConcurrent(t *testing.T) {
	tok := load(t, "testdata/llama3-style.json")
	want := tok.Count(trainingText)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := tok.Count(trainingText); got != want {
					t.Errorf("Count = %d, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzHuggingFace(f *testing.F) {
	for _, tr := range trainedTokenizers {
		// Few merges keep the file small, so that the fuzzer can mutate it.
		file, model := maps.Clone(tr.file), maps.Clone(tr.file["model"].(object))
		model["merges"] = model["merges"].([]any)[:4]
		file["model"] = model
		data, err := json.Marshal(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "The captain's 120 sacks,\n  over <|im_end|>")
	}
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"▁":1},"merges":["▁ a"]},"pre_tokenizer":{"type":"Metaspace","replacement":"▁"}}`), "a a")
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a a"]},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a|a)*$"},"behavior":"Removed"}}`), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		if len(text) > 1<<7 { // a mutated pattern may take polynomial time
			return
		}
		tok, err := readTokenizer(bytes.NewReader(file))
		if err != nil {
			if tok != nil {
				t.Errorf("readTokenizer returned both a tokenizer and the error %v", err)
			}
			return
		}
		if n, ids := tok.Count(text), tok.Encode(text); n != len(ids) {
			t.Errorf("Count(%q) = %d, Encode has %d", text, n, len(ids))
		}
	})
}

func BenchmarkHuggingFaceCount(b *testing.B) {
	data, err := os.ReadFile("testdata/llama3-style.json")
	if err != nil {
		b.Fatal(err)
	}
	tok, err := ReadHuggingFace(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(trainingText, 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Count(text)
	}
}
