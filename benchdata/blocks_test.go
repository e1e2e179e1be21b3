package benchdata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestBlocksByToken checks, with models' tokenizers, that prompts have exactly the wanted length,
// and that equal first names give equal first tokens.
func TestBlocksByToken(t *testing.T) {
	const file = `{"timestamp": 0, "input_length": 1100, "output_length": 1, "hash_ids": [7, 8, 9]}
{"timestamp": 0, "input_length": 1100, "output_length": 1, "hash_ids": [7, 8, 10]}
{"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [7, 8]}
{"timestamp": 0, "input_length": 2000, "output_length": 1, "hash_ids": [7, 8]}
{"timestamp": 0, "input_length": 1050, "output_length": 1, "hash_ids": [11, 8, 9]}`
	for _, name := range []string{"gpt2-style", "llama3-style", "qwen2-style"} {
		tok := loadTokenizer(t, name)
		requests, _, err := Trace{Format: Mooncake, Tokenizer: tok, Seed: 2}.Read(strings.NewReader(file), 0)
		assert.NilError(t, err)
		var ids [][]int
		for i, want := range []int{1100, 1100, 1024, 2000, 1050} {
			ids = append(ids, tok.Encode(requests[i].Prompt))
			assert.Equal(t, len(ids[i]), want, name)
			assert.Equal(t, requests[i].PromptTokens, want)
		}
		shared := func(a, b int) int {
			n := 0
			for n < len(ids[a]) && n < len(ids[b]) && ids[a][n] == ids[b][n] {
				n++
			}
			return n
		}
		for _, tt := range []struct{ a, b, want int }{{0, 1, 1024}, {0, 2, 1024}, {1, 2, 1024}, {0, 3, 1024}, {0, 4, 0}} {
			got := shared(tt.a, tt.b)
			assert.Assert(t, got >= tt.want && got < tt.want+4, "%s: prompts %d and %d have their first %d tokens in common, want %d", name, tt.a, tt.b, got, tt.want)
		}
	}
}

// TestBlocksByEstimate checks that, with an Estimate, lengths are within its tolerance.
func TestBlocksByEstimate(t *testing.T) {
	est := tokenizer.Estimate{PerWord: 1.37, Overhead: 9}
	requests, _, err := Trace{Format: Bailian, Tokenizer: est, Template: est.Template()}.Read(strings.NewReader(bailian), 0)
	assert.NilError(t, err)
	for i, want := range []int{40, 52} {
		off := abs(est.Count(requests[i].Prompt) + est.Template() - want)
		assert.Assert(t, off <= est.Tolerance(), "the length of request %d differs by %d tokens, want at most %d", i, off, est.Tolerance())
	}
	a, b := strings.Fields(requests[0].Prompt), strings.Fields(requests[1].Prompt)
	assert.Assert(t, slices.Equal(a[:20], b[:20]))
}

// TestBlocksCache checks that the cache of blocks does not change prompts.
func TestBlocksCache(t *testing.T) {
	fit := newFitter(tokenizer.Words{})
	distinct := newDistinctTexts(1)
	cached, uncached := newBlocks(fit, 16, 1), newBlocks(fit, 16, 1)
	for i := range 50 {
		names := []uint64{uint64(i % 7), uint64(i % 3), uint64(i)}
		a, err := cached.prompt(names, 48, distinct, i)
		assert.NilError(t, err)
		clear(uncached.texts)
		b, err := uncached.prompt(names, 48, distinct, i)
		assert.NilError(t, err)
		assert.Equal(t, a, b)
	}
}

func BenchmarkTrace(b *testing.B) {
	var file strings.Builder
	for i := range 100 {
		fmt.Fprintf(&file, `{"timestamp": %d, "input_length": 5000, "output_length": 9, "hash_ids": [0, 1, %d, %d, %d]}`+"\n", i, 5*i+2, 5*i+3, 5*i+4)
	}
	for _, tok := range []llmbench.Tokenizer{tokenizer.Words{}, loadTokenizer(b, "qwen2-style")} {
		b.Run(fmt.Sprintf("%T", tok), func(b *testing.B) {
			b.ReportAllocs()
			tokens := 0
			for b.Loop() {
				requests, _, err := Trace{Format: Mooncake, Tokenizer: tok}.Read(strings.NewReader(file.String()), 0)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range requests {
					tokens += r.PromptTokens
				}
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}
