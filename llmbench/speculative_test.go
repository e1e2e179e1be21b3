package llmbench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAcceptanceLength measures a server with speculative decoding whose acceptance length is 2.7731
// tokens. The acceptance length is computed from the deltas, from the usage alone, or from what the answers
// report. If the server reports the tokens of each delta, the ITL per token is the ITL per delta divided by
// the acceptance length.
func TestAcceptanceLength(t *testing.T) {
	const want = 1 + 0.7 + 0.49 + 0.343 + 0.2401
	within := func(t *testing.T, what string, got float64) {
		t.Helper()
		assert.Assert(t, math.Abs(got/want-1) < 0.01, "%s: acceptance length %v, want %v within 1 %%", what, got, want)
	}
	for _, c := range []struct {
		name           string
		dialect        dialect.Dialect
		body           string
		stated, answer bool // whether the server reports the tokens of each delta, and the drafts or steps of an answer
	}{
		{"vLLM, usage alone", dialect.OpenAICompletions{}, "", false, false},
		{"vLLM, usage of each delta", dialect.OpenAIChat{}, `{"stream_options":{"continuous_usage_stats":true}}`, true, false},
		{"llama.cpp", dialect.LlamaCPP{}, "", true, true},
		{"SGLang", dialect.SGLang{}, "", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mock, err := mockserver.New(mockserver.Speculative())
				assert.NilError(t, err)
				target, stop := inMemory(t, mock)
				defer stop()
				target.Dialect, target.Simulated = c.dialect, true
				if c.body != "" {
					target.Body = json.RawMessage(c.body)
				}
				const requests, output = 20, 1001
				var all []Request
				for range requests {
					all = append(all, Request{Prompt: "a b c", MaxTokens: output, FixedOutput: true})
				}
				samples := onePass(t, target, Load{Requests: all, Concurrency: 10})
				s := sample.Summarize(sample.All(samples...), time.Second, sample.SLO{})
				within(t, "tok/delta", s.Metrics["tok/delta"])
				if got, known := s.Metrics["accept-len"]; known != c.answer {
					t.Errorf("accept-len is %v, %v; want it known: %v", got, known, c.answer)
				} else if known {
					within(t, "accept-len", got)
				}
				each, known := s.Metrics["mean-token-itl-ns"]
				assert.Equal(t, known, c.stated)
				assert.Equal(t, s.DeltaTokens != nil, c.stated)
				if known {
					within(t, "ITL per delta / ITL per token", s.Metrics["mean-itl-ns"]/each)
				}
				for _, one := range samples {
					assert.NilError(t, one.Err)
					sum := 0
					for _, n := range one.DeltaTokens {
						assert.Assert(t, n >= 1 && n <= 5)
						sum += int(n)
					}
					assert.Assert(t, sum == 0 || sum == output, "%d tokens in the deltas", sum)
				}
			})
		})
	}
}

// TestAskForDeltas checks for which requests the note on deltas with several tokens advises to ask for the tokens of each
// delta.
func TestAskForDeltas(t *testing.T) {
	const body = `{"stream_options":{"continuous_usage_stats":true}}`
	for _, c := range []struct {
		dialect dialect.Dialect
		body    string
		want    bool
	}{
		{nil, "", true},
		{dialect.OpenAIChat{}, "", true},
		{dialect.OpenAICompletions{}, `{"top_k":1}`, true},
		{dialect.OpenAIChat{}, body, false},
		{dialect.OpenAIChat{}, `{"stream_options":null}`, false},
		{dialect.AnthropicMessages{}, "", false},
		{dialect.OpenAIResponses{}, "", false},
		{dialect.Gemini{}, "", false},
		{dialect.Ollama{}, "", false},
		{dialect.TGI{}, "", false},
		{dialect.BedrockConverse{}, "", false},
		{dialect.Embeddings{}, "", false},
	} {
		got := askForDeltas(Target{Dialect: c.dialect, Body: []byte(c.body)})
		assert.Equal(t, got != "", c.want, "%T %s: %s", c.dialect, c.body, got)
		assert.Assert(t, got == "" || strings.Contains(got, body), got)
	}
}
