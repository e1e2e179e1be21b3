package backends_test

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestEmbeddingsOfRealServer asks a real llama-server for vectors, as numbers and in base64.
func TestEmbeddingsOfRealServer(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{Args: []string{"--embeddings", "--pooling", "mean"}})
	for _, d := range []dialect.Dialect{dialect.Embeddings{}, dialect.Embeddings{Base64: true}} {
		target := backends.URL{URL: url, Dialect: d}.Start(t)
		var v [][]float32
		r := llmbench.Request{Inputs: []string{"the sea", "a song about mountains", "the sea"}, Check: func(a llmbench.Answer) error { v = a.Vectors; return nil }}
		s := llmbench.Do(t.Context(), target, r, false)
		assert.NilError(t, s.Err)
		assert.Assert(t, s.PromptTokens > 3 && s.Dimensions > 1 && s.OutputTokens == 0, "%+v", s)
		same, other := dot(v[0], v[2]), dot(v[0], v[1])
		assert.Assert(t, math.Abs(dot(v[0], v[0])-1) < 1e-3 && same > 0.999 && other < same, "%s: equal texts %v, different ones %v", d.Name(), same, other)
	}
}

// TestRerankOfRealServer asks a real llama-server for scores.
func TestRerankOfRealServer(t *testing.T) {
	url := llamatest.Start(t, llamatest.Options{Args: []string{"--embeddings", "--pooling", "rank", "--reranking"}})
	for _, d := range []dialect.Dialect{dialect.Rerank{}, dialect.Rerank{TopN: 2}} {
		target := llmbench.Target{URL: url, Model: "tiny", Dialect: d}
		var scores int
		r := llmbench.Request{Prompt: "What is the sea?", Inputs: []string{"the sea", "a song", "water"}, Check: func(a llmbench.Answer) error { scores = len(a.Scores); return nil }}
		s := llmbench.Do(t.Context(), target, r, false)
		assert.NilError(t, s.Err)
		assert.Assert(t, s.PromptTokens > 3 && scores > 1, "%+v", s)
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
