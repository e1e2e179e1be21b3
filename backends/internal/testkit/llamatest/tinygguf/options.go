package tinygguf

import (
	"cmp"
	"fmt"
)

// Revision is increased whenever the bytes written for equal Options change. A cache of models belongs to
// one revision.
const Revision = 1

// Options describes the model to write. Defaults are in parentheses. The zero value is a model of 439,520
// bytes that generates until a limit stops it.
//
// Dim 512, Layers 8, Heads 8, KVHeads 4, FF 1536, Vocab 4096 gives a model of 59 MB that needs about 3 ms
// per token on one core. Dim 1024, Layers 16, Heads 16, KVHeads 8, FF 4096, Vocab 4096, Type F32 gives a
// model of 1 GB, which takes seconds to load.
type Options struct {
	// EndsTurns lets the model end a turn by itself. Otherwise a generation ends at its token limit or when
	// the context is full.
	EndsTurns bool
	// EOSBias is added to the logit of the end-of-turn token if EndsTurns is set. At temperature 0.8, a
	// bias of 0 gives turns of about 150 tokens, and 2 gives turns of about 17.
	EOSBias float64

	// Pairs adds about 1,900 tokens of two bytes that are not neighbours in any word, such as "12" or "t'".
	// They reveal where a tokenizer splits a text, because a wrong split gives different tokens. Pairs
	// requires a Vocab of at least 2560.
	Pairs bool

	Dim     int  // embedding length, a multiple of 32 (64)
	Layers  int  // transformer blocks (2)
	Heads   int  // attention heads; Dim/Heads must be even (4)
	KVHeads int  // key and value heads, a divisor of Heads (2)
	FF      int  // feed-forward length, a multiple of 32 (128)
	Vocab   int  // tokens, 512 to 8192 (1024)
	Context int  // trained context length in tokens (4096)
	Type    Type // encoding of the matrices' weights (F16)
	Pre     Pre  // how a text is split into pieces before tokens are merged (PreGPT2)

	Seed uint64 // of the random weights and words (42)
	Name string // general.name, shown by some servers as the model's name ("tiny-random")
}

// WithDefaults returns o with the defaults in place of zero fields. Two Options that
// are equal afterwards give equal bytes.
func (o Options) WithDefaults() Options {
	o.Dim, o.Layers, o.Heads, o.KVHeads = cmp.Or(o.Dim, 64), cmp.Or(o.Layers, 2), cmp.Or(o.Heads, 4), cmp.Or(o.KVHeads, 2)
	o.FF, o.Vocab, o.Context = cmp.Or(o.FF, 128), cmp.Or(o.Vocab, 1024), cmp.Or(o.Context, 4096)
	o.Type, o.Pre = cmp.Or(o.Type, F16), cmp.Or(o.Pre, PreGPT2)
	o.Seed, o.Name = cmp.Or(o.Seed, 42), cmp.Or(o.Name, "tiny-random")
	return o
}

// check returns an error for the first invalid field. o must have its defaults.
func (o Options) check() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"Dim", o.Dim}, {"Layers", o.Layers}, {"Heads", o.Heads}, {"KVHeads", o.KVHeads}, {"FF", o.FF}, {"Context", o.Context},
	} {
		if f.value < 0 {
			return fmt.Errorf("tinygguf: %s %d is negative", f.name, f.value)
		}
	}
	switch {
	case o.Dim%32 != 0:
		return fmt.Errorf("tinygguf: Dim %d is not a multiple of 32", o.Dim)
	case o.FF%32 != 0:
		return fmt.Errorf("tinygguf: FF %d is not a multiple of 32", o.FF)
	case o.Dim%o.Heads != 0 || o.Dim/o.Heads%2 != 0:
		return fmt.Errorf("tinygguf: Heads %d does not divide Dim %d into even parts", o.Heads, o.Dim)
	case o.Heads%o.KVHeads != 0:
		return fmt.Errorf("tinygguf: KVHeads %d does not divide Heads %d", o.KVHeads, o.Heads)
	case o.Vocab < 512 || o.Vocab > 8192:
		return fmt.Errorf("tinygguf: Vocab %d is not in 512 to 8192", o.Vocab)
	}
	if err := o.Pre.check(); err != nil {
		return err
	}
	return o.Type.check()
}

// A Pre is a pre-tokenizer: a way to split a text into pieces before tokens are merged. Its values are
// llama.cpp's names (tokenizer.ggml.pre).
type Pre string

// The known pre-tokenizers. With PreLlama3, a piece that is a token is used as it is, and not merged from
// smaller tokens.
const (
	PreGPT2   Pre = "gpt-2"
	PreQwen2  Pre = "qwen2"
	PreLlama3 Pre = "llama-bpe"
)

func (p Pre) check() error {
	switch p {
	case PreGPT2, PreQwen2, PreLlama3:
		return nil
	}
	return fmt.Errorf("tinygguf: Pre %q is not %q, %q or %q", p, PreGPT2, PreQwen2, PreLlama3)
}
