package tinygguf

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The kinds of tokens in tokenizer.ggml.token_type.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
const (
	tokenNormal  int32 = 1
	tokenControl int32 = 3
)

// The control tokens. They are the last tokens of the vocabulary, in this order.
const (
	endOfText = "<|endoftext|>"
	turnStart = "<|im_start|>"
	turnEnd   = "<|im_end|>"
)

var controls = []string{endOfText, turnStart, turnEnd}

// chatML is a Jinja template of the prompt format ChatML
// (https://github.com/openai/openai-python/blob/release-v0.28.0/chatml.md).
const chatML = `{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`

// never is a logit so far below all others that its token is not sampled.
const never = -30

// A vocabulary is the tokenizer and the model's preference for each token.
type vocabulary struct {
	tokens []string
	kinds  []int32
	merges []string
	bias   []float32 // added to the token's logit in every context
	pre    Pre
}

// newVocabulary creates o.Vocab tokens: the 256 bytes, merges of bytes, and the control tokens. The merges
// for o.Pairs follow the merges for words, so that words are tokenized in the same way with and without
// Pairs.
func newVocabulary(o Options, r *rand.Rand) (*vocabulary, error) {
	words, counts := corpus(o.Vocab, r)
	var pairs [][2]string
	if o.Pairs {
		pairs = bytePairs()
	}
	merges, made := trainBPE(counts, max(0, o.Vocab-256-len(controls)-len(pairs)))
	for _, p := range pairs {
		merges, made = append(merges, p[0]+" "+p[1]), append(made, p[0]+p[1])
	}
	v := &vocabulary{merges: merges, pre: o.Pre}
	for _, b := range byteRunes() {
		v.tokens = append(v.tokens, string(b))
	}
	v.tokens = append(v.tokens, made...)
	normal := len(v.tokens)
	v.tokens = append(v.tokens, controls...)
	if len(v.tokens) != o.Vocab {
		return nil, fmt.Errorf("tinygguf: Vocab %d: the corpus gives %d tokens", o.Vocab, len(v.tokens))
	}

	ranks := map[string]int{}
	for i, w := range words {
		if _, ok := ranks["Ġ"+w]; !ok {
			ranks["Ġ"+w] = i
		}
	}
	for i, t := range v.tokens {
		kind, bias := tokenNormal, 0.0
		rank, isWord := ranks[t]
		switch {
		case i >= normal:
			kind, bias = tokenControl, never
			if t == turnEnd && o.EndsTurns {
				bias = o.EOSBias
			}
		case i < 256 && (i >= 127 || i < 32): // a control character, or a part of a character beyond ASCII
			bias = never
		case t == "." || t == ",":
		case isWord:
			bias = -0.4 * math.Log(float64(rank+10)/10)
		default:
			bias = -8
		}
		v.kinds = append(v.kinds, kind)
		v.bias = append(v.bias, float32(bias))
	}
	return v, nil
}

// id returns the id of a control token.
func (v *vocabulary) id(control string) uint32 {
	for i, c := range controls {
		if c == control {
			return uint32(len(v.tokens) - len(controls) + i)
		}
	}
	panic("tinygguf: no control token " + control)
}

// pairs returns the tokenizer's metadata.
func (v *vocabulary) pairs() []pair {
	return []pair{
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.pre", string(v.pre)},
		{"tokenizer.ggml.tokens", v.tokens},
		{"tokenizer.ggml.token_type", v.kinds},
		{"tokenizer.ggml.merges", v.merges},
		{"tokenizer.ggml.bos_token_id", v.id(endOfText)},
		{"tokenizer.ggml.eos_token_id", v.id(turnEnd)},
		{"tokenizer.ggml.padding_token_id", v.id(endOfText)},
		{"tokenizer.ggml.add_bos_token", false},
		{"tokenizer.ggml.add_eos_token", false},
		{"tokenizer.chat_template", chatML},
	}
}
