package ollamatest_test

import (
	"math/rand/v2"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// parts holds the parts that the texts of TestTokenizer are made of.
var parts = []string{
	" the", " they", " water", "don't", "I'LL", "12345", "7", " ", "  ", "\n", "\r\n", "\t", ".", "...", "?!", " (", "/", "ß", "é", "東京", "\U0001F600", "<|im_end|>",
}

// TestTokenizer makes a tokenizer from the answer of Ollama's /api/show, and compares its counts
// with Ollama's own counts. The vocabulary shows where a text is split.
func TestTokenizer(t *testing.T) {
	for _, pre := range []tinygguf.Pre{tinygguf.PreGPT2, tinygguf.PreQwen2, tinygguf.PreLlama3} {
		t.Run(string(pre), func(t *testing.T) {
			url := ollamatest.Start(t, ollamatest.Options{Model: tinygguf.Options{Pre: pre, Pairs: true, Vocab: 2560}})
			target := llmbench.Target{URL: url, Model: ollamatest.ModelName, Dialect: dialect.OllamaGenerate{}}
			tok, err := tokenizer.NewOllama(t.Context(), target)
			assert.NilError(t, err)
			random := rand.New(rand.NewPCG(7, 7))
			for range 50 {
				text := "a"
				for range 1 + random.IntN(30) {
					text += parts[random.IntN(len(parts))]
				}
				s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: text, MaxTokens: 1}, false)
				assert.NilError(t, s.Err)
				assert.Equal(t, s.PromptTokens, tok.Count(text), "%q", text)
			}
		})
	}
}
