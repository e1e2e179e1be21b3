package tinygguf

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestWriteGolden checks the bytes of the default model. If they change on purpose,
// increase Revision, which identifies the models in caches.
func TestWriteGolden(t *testing.T) {
	const revision, size, sum = 1, 439520, "182e2d497c988d58acfeec5aeff0c76a3b3109da290c783b2e31c149519c6cc7"
	var b bytes.Buffer
	if err := Write(&b, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); got != sum || b.Len() != size || Revision != revision {
		t.Errorf("Write(w, Options{}) in revision %d = %d bytes, SHA-256 %s; want revision %d, %d bytes, %s",
			Revision, b.Len(), got, revision, size, sum)
	}
}

func TestWriteOptions(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
	}{
		{"f32", Options{Type: F32, Vocab: 520}},
		{"f16", Options{Type: F16, Vocab: 520}},
		{"q8_0", Options{Type: Q8_0, Vocab: 520}},
		{"ends turns", Options{EndsTurns: true, EOSBias: 2, Vocab: 520}},
		{"qwen2", Options{Pre: PreQwen2, Vocab: 520}},
		{"pairs", Options{Pairs: true, Vocab: 2560}},
		{"other shape", Options{Dim: 128, Layers: 3, Heads: 8, KVHeads: 8, FF: 96, Vocab: 600, Context: 512, Seed: 7, Name: "other"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, test.options); err != nil {
				t.Fatal(err)
			}
			f, err := parse(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			o := test.options.WithDefaults()
			for key, want := range map[string]any{
				"general.architecture":             "llama",
				"general.name":                     o.Name,
				"llama.block_count":                uint32(o.Layers),
				"llama.context_length":             uint32(o.Context),
				"llama.embedding_length":           uint32(o.Dim),
				"llama.attention.head_count":       uint32(o.Heads),
				"llama.attention.head_count_kv":    uint32(o.KVHeads),
				"tokenizer.ggml.eos_token_id":      uint32(o.Vocab - 1),
				"tokenizer.ggml.pre":               string(o.Pre),
				"tokenizer.ggml.add_bos_token":     false,
				"tokenizer.ggml.tokens.length":     o.Vocab,
				"tokenizer.ggml.token_type.length": o.Vocab,
			} {
				if got := f.pairs[key]; got != want {
					t.Errorf("pair %s = %v, want %v", key, got, want)
				}
			}
			if got, want := len(f.tensors), 3+9*o.Layers; got != want {
				t.Errorf("%d tensors, want %d", got, want)
			}
			if got, want := f.tensors["token_embd.weight"], fmt.Sprintf("[%d %d] type %d", o.Dim, o.Vocab, ids[o.Type].tensor); got != want {
				t.Errorf("token_embd.weight = %s, want %s", got, want)
			}
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Dim: 40}, "Dim 40 is not a multiple of 32"},
		{Options{FF: 33}, "FF 33 is not a multiple of 32"},
		{Options{Heads: 3}, "Heads 3 does not divide Dim 64 into even parts"},
		{Options{KVHeads: 3}, "KVHeads 3 does not divide Heads 4"},
		{Options{Vocab: 300}, "Vocab 300 is not in 512 to 8192"},
		{Options{Layers: -1}, "Layers -1 is negative"},
		{Options{Pre: "tekken"}, `Pre "tekken" is not "gpt-2", "qwen2" or "llama-bpe"`},
		{Options{Pairs: true}, "Vocab 1024: the corpus gives"},
		{Options{Type: "q4_0"}, `Type "q4_0" is not "f32", "f16" or "q8_0"`},
	} {
		var b bytes.Buffer
		err := Write(&b, test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) || b.Len() > 0 {
			t.Errorf("Write(w, %+v) = %v after %d bytes, want an error with %q before the first", test.options, err, b.Len(), test.want)
		}
	}
}

// TestWriteError checks that an error of the writer is returned, here inside the weights.
func TestWriteError(t *testing.T) {
	full := errors.New("disk full")
	err := Write(writerFunc(func(p []byte) (int, error) {
		if bytes.HasPrefix(p, []byte(magic)) {
			return len(p), nil
		}
		return 0, full
	}), Options{})
	if !errors.Is(err, full) {
		t.Errorf("Write to a full disk = %v, want %v", err, full)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func ExampleWrite() {
	for _, o := range []Options{{}, {Type: F32, Layers: 4}} {
		var n counter
		if err := Write(&n, o); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n, "bytes")
	}
	// Output:
	// 439520 bytes
	// 1146112 bytes
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
