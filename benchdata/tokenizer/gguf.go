package tokenizer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A ggufVocabulary is the vocabulary in the metadata of a GGUF file
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#tokenizer).
type ggufVocabulary struct {
	Model  string    `json:"tokenizer.ggml.model"`
	Pre    string    `json:"tokenizer.ggml.pre"` // llama.cpp's name for the way to split a text
	Tokens []string  `json:"tokenizer.ggml.tokens"`
	Types  []int32   `json:"tokenizer.ggml.token_type"`
	Merges []hfMerge `json:"tokenizer.ggml.merges"` // if Model is gpt2
	Scores []float64 `json:"tokenizer.ggml.scores"` // if Model is llama

	AddSpacePrefix *bool `json:"tokenizer.ggml.add_space_prefix"` // true if absent
}

// The types of tokens. Control and user-defined tokens are added tokens: they match before the
// text is split.
const (
	ggufNormal      int32 = 1
	ggufControl     int32 = 3
	ggufUserDefined int32 = 4
)

// A ggufSplit is a way to split a text into pieces. The patterns come from the published
// tokenizers of models. The names in ggufSplits are llama.cpp's
// (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp).
type ggufSplit struct {
	pattern      string
	ignoreMerges bool // a piece that is a token becomes that token without merging
}

// The common parts of several patterns. splitContractions is for English contractions. The
// alternatives in splitRest come after the alternatives for letters and digits.
const (
	splitContractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	splitRest         = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	splitRestSlash    = `| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	splitUpper        = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	splitLower        = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
)

var (
	splitGPT2   = ggufSplit{byteLevelPattern, false}
	splitQwen2  = ggufSplit{splitContractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}` + splitRest, false}      // https://huggingface.co/Qwen/Qwen2-7B/blob/main/tokenizer.json
	splitDBRX   = ggufSplit{splitContractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` + splitRest, false} // https://huggingface.co/microsoft/phi-4/blob/main/tokenizer.json
	splitLlama3 = ggufSplit{splitDBRX.pattern, true}                                                       // https://huggingface.co/meta-llama/Meta-Llama-3-8B/blob/main/tokenizer.json
	splitTekken = ggufSplit{casedLetters("") + `|\p{N}` + splitRestSlash, true}                            // https://huggingface.co/mistralai/Mistral-Nemo-Base-2407/blob/main/tokenizer.json
	splitGPT4o  = ggufSplit{casedLetters(splitContractions+"?") + `|\p{N}{1,3}` + splitRestSlash, false}   // https://huggingface.co/openai/gpt-oss-20b/blob/main/tokenizer.json
)

// casedLetters returns a pattern for words. Within a match, no upper-case letter follows a
// lower-case letter. end is a pattern for the end of each word.
func casedLetters(end string) string {
	const before = `[^\r\n\p{L}\p{N}]?`
	return before + splitUpper + `*` + splitLower + `+` + end + `|` + before + splitUpper + `+` + splitLower + `*` + end
}

var ggufSplits = map[string]ggufSplit{
	"gpt-2": splitGPT2, "qwen2": splitQwen2, "deepseek-r1-qwen": splitQwen2, "dbrx": splitDBRX,
	"llama-bpe": splitLlama3, "llama3": splitLlama3, "llama-v3": splitLlama3, "tekken": splitTekken, "gpt-4o": splitGPT4o,
}

// tokenizer returns a tokenizer with this vocabulary.
func (v *ggufVocabulary) tokenizer() (*HuggingFace, error) {
	if len(v.Tokens) == 0 {
		return nil, errors.New("there are no tokenizer.ggml.tokens")
	}
	if len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("%d tokens and %d types of tokens: want one type for each token", len(v.Tokens), len(v.Types))
	}
	f := hfFile{Model: &hfModel{Type: "BPE", Vocab: make(map[string]int32, len(v.Tokens))}}
	for id, token := range v.Tokens {
		if t := v.Types[id]; t == ggufControl || t == ggufUserDefined {
			f.AddedTokens = append(f.AddedTokens, addedToken{Content: token, ID: int32(id)})
		}
		f.Model.Vocab[token] = int32(id)
	}
	var err error
	switch v.Model {
	case "gpt2":
		err = v.byteLevel(&f)
	case "llama":
		err = v.sentencePiece(&f)
	default:
		err = fmt.Errorf("tokenizer.ggml.model is %q: want gpt2 or llama", v.Model)
	}
	if err != nil {
		return nil, err
	}
	return f.tokenizer()
}

// byteLevel completes f for a byte-level byte-pair encoding.
func (v *ggufVocabulary) byteLevel(f *hfFile) error {
	split, ok := ggufSplits[v.Pre]
	if !ok {
		return fmt.Errorf("tokenizer.ggml.pre is %q, which is not supported", v.Pre)
	}
	if len(v.Merges) == 0 {
		return errors.New("there are no tokenizer.ggml.merges")
	}
	f.Model.Merges, f.Model.IgnoreMerges = v.Merges, split.ignoreMerges
	no := false
	pattern := hfStep{Type: "Split", Behavior: isolated}
	pattern.Pattern.Regex = &split.pattern
	f.PreTokenizer = &hfStep{Type: "Sequence", PreTokenizers: []hfStep{pattern, {Type: "ByteLevel", AddPrefixSpace: &no, UseRegex: &no}}}
	return nil
}

// sentencePiece completes f for a byte-pair encoding of SentencePiece. Two neighboring tokens are
// merged if their concatenation is a token. The merge that gives the token with the highest score
// comes first.
func (v *ggufVocabulary) sentencePiece(f *hfFile) error {
	if len(v.Scores) != len(v.Tokens) {
		return fmt.Errorf("%d tokens and %d scores: want one score for each token", len(v.Tokens), len(v.Scores))
	}
	unknown := slices.Index(v.Types, 2)
	if unknown >= 0 {
		f.Model.UnknownToken = &v.Tokens[unknown]
	}
	f.Model.FuseUnknown, f.Model.ByteFallback = true, true
	ids := make([]int, 0, len(v.Tokens))
	for id, kind := range v.Types {
		if kind == ggufNormal {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(v.Scores[b], v.Scores[a]) })
	for _, id := range ids {
		token := v.Tokens[id]
		for i := range token {
			if i == 0 {
				continue
			}
			if _, left := f.Model.Vocab[token[:i]]; !left {
				continue
			}
			if _, right := f.Model.Vocab[token[i:]]; right {
				f.Model.Merges = append(f.Model.Merges, hfMerge{token[:i], token[i:]})
			}
		}
	}
	space := " "
	replace := hfStep{Type: "Replace", Content: metaspaceRune}
	replace.Pattern.String = &space
	f.Normalizer = &hfStep{Type: "Sequence", Normalizers: []hfStep{replace}}
	if orTrue(v.AddSpacePrefix) {
		f.Normalizer.Normalizers = []hfStep{{Type: "Prepend", Prepend: metaspaceRune}, replace}
	}
	return nil
}

// metaspaceRune represents a space in the tokens of SentencePiece.
const metaspaceRune = string('\u2581')
