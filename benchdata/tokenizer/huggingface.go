package tokenizer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// HuggingFace is the tokenizer of a model, read from the tokenizer.json that is published with
// the model. It is safe for concurrent use.
//
// The supported models are byte-pair encodings of two kinds: byte-level encodings in the
// layouts of GPT-2, Llama 3, Qwen 2 and DeepSeek; and encodings converted from SentencePiece
// with byte fallback, in the layouts of Llama 2, Mistral 7B and Gemma. Loading a file with
// another type of model, normalizer or pre-tokenizer is an error. Loading is also an error if a
// pattern in the file could take exponential time on some text. The patterns of the layouts
// above take linear time.
//
// Split patterns run on github.com/dlclark/regexp2, because they need lookahead, which Go's
// package regexp does not have. This package implements merging itself, because we found no
// library without cgo that reads these files correctly. github.com/sugarme/tokenizer v0.3.0
// panics on the patterns of Llama 3 and Qwen 2, and does not merge a run of equal characters
// from the left.
//
// HuggingFace differs from the Rust library in three ways:
//
//   - It looks for added tokens before normalization, even if their "normalized" is true.
//   - Character classes and normal forms follow Go's version of Unicode.
//   - Normal forms insert U+034F into a run of more than 30 combining marks
//     (https://unicode.org/reports/tr15/#Stream_Safe_Text_Format).
type HuggingFace struct {
	added       *addedTokens
	normalizers []normalizer
	splitters   []splitter
	model       bpe
}

// LoadHuggingFace reads the tokenizer.json at path. An error names the path and the part of the
// file that is not supported.
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

// ReadHuggingFace reads a tokenizer.json from r until its end.
func ReadHuggingFace(r io.Reader) (*HuggingFace, error) {
	t, err := readTokenizer(r)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// readTokenizer reads a tokenizer.json.
func readTokenizer(r io.Reader) (*HuggingFace, error) {
	dec := json.NewDecoder(r)
	var f hfFile
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is data after the first JSON value")
	}
	return f.tokenizer()
}

// tokenizer returns the tokenizer that f describes.
func (f *hfFile) tokenizer() (*HuggingFace, error) {
	t := &HuggingFace{added: newAddedTokens(f.AddedTokens)}
	if err := f.model(&t.model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	var err error
	if t.normalizers, err = f.Normalizer.normalizers(nil); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.splitters, err = f.PreTokenizer.splitters(nil); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	return t, nil
}

// Count returns the number of tokens in text. It does not count the tokens that a chat template
// or the tokenizer's post-processor (begin-of-text) would add. An added token such as
// <|im_end|> in the text counts as one token, as in servers.
func (t *HuggingFace) Count(text string) int { return len(t.encode(text)) }

// Encode returns the ids of the tokens that [HuggingFace.Count] counts. Each byte that is not
// UTF-8 is read as U+FFFD, because a JSON request would contain U+FFFD.
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

// pieces normalizes a part of a text and splits it into pieces. Tokens are only merged within a
// piece. first says that the part is at the beginning of the whole text.
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
