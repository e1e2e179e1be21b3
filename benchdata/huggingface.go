package benchdata

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"
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
// Two things are simpler than in the Rust library. The normalizer NFC is taken
// for done: decomposed text, which is rare outside of macOS file names, may
// count a little more. And added tokens are found in the text before it is
// normalized, whatever their "normalized" says.
type HuggingFace struct {
	added       *addedTokens
	normalizers []normalizer
	splitters   []splitter
	model       bpe
}

// patternTimeout is how long one search of a split pattern may take. A
// published pattern takes microseconds; one made to backtrack takes for ever.
const patternTimeout = 5 * time.Second

// LoadHuggingFace reads the tokenizer.json at path.
func LoadHuggingFace(path string) (*HuggingFace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	t, err := readTokenizer(bufio.NewReader(f), patternTimeout)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return t, nil
}

// ReadHuggingFace reads a tokenizer.json from r, to its end.
func ReadHuggingFace(r io.Reader) (*HuggingFace, error) {
	t, err := readTokenizer(r, patternTimeout)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// Count returns the number of tokens in text, without those that a template
// or the tokenizer's post-processor would put around it (begin-of-text). An
// added token such as <|im_end|> inside the text is one token, as it is to
// the servers. When Encode fails, it returns the length of text in bytes,
// as if each were a token.
func (t *HuggingFace) Count(text string) int {
	ids, err := t.Encode(text)
	if err != nil {
		return len(text)
	}
	return len(ids)
}

// Encode returns the ids of the tokens that Count counts, to compare with
// another tokenizer's. Bytes that are not UTF-8 are read as U+FFFD each, which
// is also what they become in a JSON request. It fails only when a split
// pattern of the file takes more than five seconds for one match.
func (t *HuggingFace) Encode(text string) (ids []int, err error) {
	defer func() {
		if p := recover(); p != nil { // regexp2 runs patterns from a file
			ids, err = nil, fmt.Errorf("tokenizer: %v", p)
		}
	}()
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	var scratch bpeScratch
	var tokens []int32
	for first := true; text != ""; first = false {
		before, added, after, ok := t.added.next(text)
		pieces, err := t.pieces(before, first)
		if err != nil {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
		for _, p := range pieces {
			tokens = t.model.append(tokens, p.text, &scratch)
		}
		if ok {
			tokens = append(tokens, added.ID)
		}
		text = after
	}
	ids = make([]int, len(tokens))
	for i, id := range tokens {
		ids[i] = int(id)
	}
	return ids, nil
}

// pieces returns the pieces of text, normalized, in which tokens are merged.
func (t *HuggingFace) pieces(text string, first bool) ([]span, error) {
	for _, n := range t.normalizers {
		text = n(text)
	}
	if text == "" {
		return nil, nil
	}
	pieces := []span{{text, first}}
	for _, s := range t.splitters {
		var next []span
		for _, p := range pieces {
			var err error
			if next, err = s.split(next, p); err != nil {
				return nil, err
			}
		}
		pieces = next
	}
	return pieces, nil
}
