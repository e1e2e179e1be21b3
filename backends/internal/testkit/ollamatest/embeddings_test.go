package ollamatest_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestEmbeddings asks a real Ollama for vectors by its own API and by OpenAI's. The vectors must be equal.
func TestEmbeddings(t *testing.T) {
	url := ollamatest.Start(t, ollamatest.Options{})
	var first []float32
	for _, d := range []dialect.Dialect{dialect.OllamaEmbed{}, dialect.Embeddings{}, dialect.Embeddings{Base64: true}} {
		target := backends.URL{URL: url, Dialect: d}.Start(t)
		var v [][]float32
		r := llmbench.Request{Inputs: []string{"the sea", "a song"}, Check: func(a llmbench.Answer) error { v = a.Vectors; return nil }}
		s := llmbench.Do(t.Context(), target, r, false)
		assert.NilError(t, s.Err, d.Name())
		assert.Assert(t, s.PromptTokens > 2 && s.OutputTokens == 0, "%s: %+v", d.Name(), s)
		if first == nil {
			first = v[0]
		}
		assert.Assert(t, len(v) == 2 && slices.Equal(v[0], first) && !slices.Equal(v[1], first), d.Name())
	}
}
