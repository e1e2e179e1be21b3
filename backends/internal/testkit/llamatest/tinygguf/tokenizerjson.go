package tinygguf

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// The patterns of Qwen 2 and of Llama 3. They differ in the maximum number of digits in a piece.
// https://huggingface.co/Qwen/Qwen2-7B/blob/main/tokenizer.json
// https://huggingface.co/meta-llama/Meta-Llama-3-8B/blob/main/tokenizer.json
const (
	patternQwen2  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// An object is a JSON object.
type object map[string]any

// TokenizerJSON writes the tokenizer of the model that o describes to w, in the format of tokenizer.json.
// It has the same tokens, ids and merges as the model that [Write] writes. The normalizer and the
// pre-tokenizer come from GPT-2, Qwen 2 or Llama 3, depending on o.Pre. If o is invalid, nothing is
// written.
func TokenizerJSON(w io.Writer, o Options) error {
	o, v, _, err := start(o)
	if err != nil {
		return err
	}
	vocab, added := object{}, []object{}
	for id, t := range v.tokens {
		if v.kinds[id] == tokenNormal {
			vocab[t] = id
			continue
		}
		added = append(added, object{
			"id": id, "content": t, "single_word": false, "lstrip": false, "rstrip": false,
			"normalized": false, "special": true,
		})
	}
	merges := make([][]string, len(v.merges))
	for i, m := range v.merges {
		merges[i] = strings.Split(m, " ")
	}
	normalizer, preTokenizer := o.Pre.steps()
	err = json.NewEncoder(w).Encode(object{
		"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens":   added,
		"normalizer":     normalizer,
		"pre_tokenizer":  preTokenizer,
		"post_processor": byteLevel(true),
		"decoder":        byteLevel(true),
		"model": object{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false,
			"ignore_merges": o.Pre == PreLlama3,
			"vocab":         vocab,
			"merges":        merges,
		},
	})
	if err != nil {
		return fmt.Errorf("tinygguf: tokenizer.json: %w", err)
	}
	return nil
}

// steps returns the normalizer, which may be nil, and the pre-tokenizer.
func (p Pre) steps() (normalizer, preTokenizer any) {
	switch p {
	case PreQwen2:
		return object{"type": "NFC"}, split(patternQwen2)
	case PreLlama3:
		return nil, split(patternLlama3)
	}
	return nil, byteLevel(true)
}

// byteLevel returns a step that represents bytes as printable characters. If words is true, the step first
// splits the text by GPT-2's pattern.
func byteLevel(words bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": words}
}

// split returns a pre-tokenizer that splits by a pattern.
func split(pattern string) object {
	return object{"type": "Sequence", "pretokenizers": []object{
		{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
		byteLevel(false),
	}}
}
