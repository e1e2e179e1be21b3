package tokenizer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// HuggingFace is the tokenizer of a model, read from the tokenizer.json that
// the model is published with. It is safe for concurrent use.
//
// It reads byte-pair-encoding models: byte-level ones in the layouts of GPT-2,
// Llama 3, Qwen 2 and DeepSeek, and those converted from SentencePiece with
// byte fallback, in the layouts of Llama 2, Mistral 7B and Gemma. Any other
// model type, normalizer or pre-tokenizer is an error when the file is loaded.
//
// Split patterns run on github.com/dlclark/regexp2, since they need lookahead,
// which Go's own regexp does not have. The merging is done here because no
// library without cgo was found to read these files right: the best known,
// github.com/sugarme/tokenizer v0.3.0, panics on the patterns of Llama 3 and
// Qwen 2, and does not merge a run of equal characters from the left.
//
// A file is refused, too, when a pattern in it could take for ever on some
// text; those of the layouts above take a time in proportion to the text. A
// tokenizer that was read therefore has a count for every text, without a
// limit of time, and never an estimate of one. What could still go wrong is a
// bug of regexp2, which is a panic.
//
// One thing is simpler than in the Rust library: added tokens are found in the
// text before it is normalized, whatever their "normalized" says. Classes of
// characters, and the normal forms, are those of the Unicode version that Go
// has; the forms put a U+034F into a run of more than 30 combining marks
// (https://unicode.org/reports/tr15/#Stream_Safe_Text_Format).
type HuggingFace struct {
	added       *addedTokens
	normalizers []normalizer
	splitters   []splitter
	model       bpe
}

// LoadHuggingFace reads the tokenizer.json at path.
func LoadHuggingFace(path string) (*HuggingFace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	t, err := readTokenizer(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return t, nil
}

// ReadHuggingFace reads a tokenizer.json from r, to its end.
func ReadHuggingFace(r io.Reader) (*HuggingFace, error) {
	t, err := readTokenizer(r)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// Count returns the number of tokens in text, without those that a template
// or the tokenizer's post-processor would put around it (begin-of-text). An
// added token such as <|im_end|> inside the text is one token, as it is to
// the servers.
func (t *HuggingFace) Count(text string) int { return len(t.encode(text)) }

// Encode returns the ids of the tokens that Count counts, to compare with
// another tokenizer's. Bytes that are not UTF-8 are read as U+FFFD each, which
// is also what they become in a JSON request.
func (t *HuggingFace) Encode(text string) []int {
	tokens := t.encode(text)
	ids := make([]int, len(tokens))
	for i, id := range tokens {
		ids[i] = int(id)
	}
	return ids
}

func (t *HuggingFace) encode(text string) []int32 {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	var scratch bpeScratch
	var tokens []int32
	for first := true; text != ""; first = false {
		before, added, after, ok := t.added.next(text)
		for _, p := range t.pieces(before, first) {
			tokens = t.model.append(tokens, p.text, &scratch)
		}
		if ok {
			tokens = append(tokens, added.ID)
		}
		text = after
	}
	return tokens
}

// pieces returns the pieces of text, normalized, in which tokens are merged.
func (t *HuggingFace) pieces(text string, first bool) []span {
	for _, n := range t.normalizers {
		text = n(text)
	}
	if text == "" {
		return nil
	}
	pieces := []span{{text, first}}
	for _, s := range t.splitters {
		var next []span
		for _, p := range pieces {
			next = s.split(next, p)
		}
		pieces = next
	}
	return pieces
}
