package scenarios

import (
	"strings"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

const (
	// exactSlack is by how many tokens the server may count a prompt shorter than an exact tokenizer and the length of the
	// template do, because the template may join with the text.
	exactSlack = 8
	// estimateSlack is the share by which the server may count a prompt shorter than an estimate that is based on its own
	// counts.
	estimateSlack = 0.2
)

// least returns the least number of tokens, as the server counts them, of a prompt whose intended length is promptTokens.
// Every prompt has at least one token.
func (c counter) least(promptTokens int) int {
	e, estimated := c.tokens.(tokenizer.Estimate)
	switch {
	case c.unknown || promptTokens == 0 || c.tokens == guess.tokens:
		return 1
	case estimated:
		return max(1, int((1-estimateSlack)*float64(promptTokens)-e.Residual))
	}
	return max(1, promptTokens-exactSlack)
}

// loadName returns the part of a benchmark's name that is about the load and not about the server.
func loadName(benchmark string) string {
	if _, after, found := strings.Cut(benchmark, "/model="); found {
		if _, load, found := strings.Cut(after, "/"); found {
			return load
		}
	}
	return benchmark
}
