package tinygguf

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// Write writes the model that o describes to w, one tensor at a time. If o is invalid,
// nothing is written.
func Write(w io.Writer, o Options) error {
	o, v, r, err := start(o)
	if err != nil {
		return err
	}
	m := &model{Options: o, rand: r, vocabulary: v}
	return writeGGUF(w, append(m.pairs(), v.pairs()...), m.tensors())
}

// start returns o with its defaults, its vocabulary, and the random number generator from which the
// vocabulary was drawn, for the weights.
func start(o Options) (Options, *vocabulary, *rand.Rand, error) {
	o = o.WithDefaults()
	if err := o.check(); err != nil {
		return o, nil, nil, err
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x7467756666))
	v, err := newVocabulary(o, r)
	return o, v, r, err
}

// A model generates the weights. All of them are drawn from one generator, so each tensor must be written
// exactly once and in the order of the file.
type model struct {
	Options
	rand       *rand.Rand
	vocabulary *vocabulary
}

// pairs returns the metadata that describes the architecture.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#standardized-key-value-pairs
func (m *model) pairs() []pair {
	return []pair{
		{"general.architecture", "llama"},
		{"general.type", "model"},
		{"general.name", m.Name},
		{"general.file_type", ids[m.Type].file},
		{"general.quantization_version", uint32(2)},
		{"llama.block_count", uint32(m.Layers)},
		{"llama.context_length", uint32(m.Context)},
		{"llama.embedding_length", uint32(m.Dim)},
		{"llama.feed_forward_length", uint32(m.FF)},
		{"llama.attention.head_count", uint32(m.Heads)},
		{"llama.attention.head_count_kv", uint32(m.KVHeads)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.freq_base", float32(10000)},
		{"llama.rope.dimension_count", uint32(m.Dim / m.Heads)},
		{"llama.vocab_size", uint32(m.Vocab)},
	}
}

// tensors returns the weights of the embedding, the output and the blocks.
func (m *model) tensors() []tensor {
	embedding, output := m.outerWeights()
	outputType := m.Type
	if outputType == Q8_0 {
		outputType = F16 // the matrix contains the bias of each token, which a block of Q8_0 would round away
	}
	ts := []tensor{
		{"token_embd.weight", []int{m.Dim, m.Vocab}, m.Type, embedding},
		m.norm("output_norm.weight"),
		{"output.weight", []int{m.Dim, m.Vocab}, outputType, output},
	}
	kv := m.KVHeads * (m.Dim / m.Heads)
	std := 1 / math.Sqrt(float64(m.Dim))
	for i := range m.Layers {
		b := fmt.Sprintf("blk.%d.", i)
		ts = append(ts,
			m.norm(b+"attn_norm.weight"),
			m.matrix(b+"attn_q.weight", m.Dim, m.Dim, std),
			m.matrix(b+"attn_k.weight", kv, m.Dim, std),
			m.matrix(b+"attn_v.weight", kv, m.Dim, std),
			m.residual(b+"attn_output.weight", m.Dim, std/2),
			m.norm(b+"ffn_norm.weight"),
			m.matrix(b+"ffn_gate.weight", m.FF, m.Dim, std),
			m.matrix(b+"ffn_up.weight", m.FF, m.Dim, std),
			m.residual(b+"ffn_down.weight", m.FF, 0.5/math.Sqrt(float64(m.FF))),
		)
	}
	return ts
}

// constant is the value of hidden channel 0 in every embedding. No block changes that channel. The weight
// for the channel in a row of the output matrix therefore acts as a bias of the row's token.
const constant = 4.0

// outerWeights returns the weights of the embedding and of the output matrix. Both are drawn in one loop.
func (m *model) outerWeights() (embedding, output func() []float32) {
	in := make([]float32, m.Vocab*m.Dim)
	out := make([]float32, m.Vocab*m.Dim)
	others := float64(float64(m.Dim-1) * 1.3) // the conversion prevents a fused multiply-add
	channel0 := constant / math.Sqrt((constant*constant+others)/float64(m.Dim))
	for t := range m.Vocab {
		in[t*m.Dim] = constant
		out[t*m.Dim] = float32(float64(m.vocabulary.bias[t]) / channel0)
		for j := 1; j < m.Dim; j++ {
			in[t*m.Dim+j] = m.normal(1)
			out[t*m.Dim+j] = m.normal(2 / math.Sqrt(float64(m.Dim)))
		}
	}
	return func() []float32 { return in }, func() []float32 { return out }
}

// normal draws a weight from the normal distribution with mean 0.
func (m *model) normal(std float64) float32 { return float32(m.rand.NormFloat64() * std) }

// matrix returns a matrix of random weights that maps cols values to rows values.
func (m *model) matrix(name string, rows, cols int, std float64) tensor {
	return tensor{name, []int{cols, rows}, m.Type, func() []float32 {
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = m.normal(std)
		}
		return w
	}}
}

// residual returns a matrix whose result is added to the hidden state. Its first row is zero, so that
// channel 0 stays constant.
func (m *model) residual(name string, cols int, std float64) tensor {
	t := m.matrix(name, m.Dim, cols, std)
	random := t.weights
	t.weights = func() []float32 {
		w := random()
		clear(w[:cols])
		return w
	}
	return t
}

// norm returns the gain of a normalization, which is 1.
func (m *model) norm(name string) tensor {
	return tensor{name, []int{m.Dim}, F32, func() []float32 {
		w := make([]float32, m.Dim)
		for i := range w {
			w[i] = 1
		}
		return w
	}}
}
