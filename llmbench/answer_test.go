package llmbench

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestFirstOutput reads answers of ten tokens that begin with five tokens of reasoning, in each dialect
// that separates the reasoning from the rest.
func TestFirstOutput(t *testing.T) {
	const thought, said = " the quick brown fox jumps", " over a lazy dog while"
	for _, d := range []dialect.Dialect{dialect.OpenAIChat{}, dialect.OpenAIResponses{}, dialect.Ollama{}, dialect.AnthropicMessages{}, dialect.Gemini{}, dialect.BedrockConverse{}, dialect.BedrockInvoke{}, dialect.Cohere{}} {
		for _, c := range []struct {
			name    string
			shape   shape.Shape
			outputs int
			want    sample.Answer
		}{
			{"all is output", shape.Shape{}, 10, sample.Answer{Text: thought + said}},
			{"half", shape.Shape{Reasoning: "reasoning"}, 5, sample.Answer{Text: said, Reasoning: thought}},
			{"all is reasoning", shape.Shape{Reasoning: "reasoning", ReasoningTokens: 10}, 0, sample.Answer{Reasoning: thought + said}},
			{"a call", shape.Shape{Reasoning: "reasoning", ToolCall: true}, 5, sample.Answer{Reasoning: thought, ToolCalls: []sample.ToolCall{{Name: "speak", Arguments: `{"text": "` + said + `"}`}}}},
			{"one event", shape.Shape{Reasoning: "reasoning", TokensPerChunk: 10}, 1, sample.Answer{Text: said, Reasoning: thought}},
		} {
			t.Run(d.Name()+"/"+c.name, func(t *testing.T) {
				cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms, Shape: c.shape}
				bubbleIn(t, d, cfg, Load{Requests: words(2, 10), Concurrency: 1, KeepText: true}, func(samples []sample.Sample, _ *mockserver.Server) {
					s := &samples[1]
					assert.Equal(t, s.Outcome, sample.OK, "%v", s.Err)
					got := *s.Answer
					whole := d.Name() == "ollama" || strings.HasPrefix(d.Name(), "gemini")
					if c.want.Finish = s.Finish; whole && c.want.ToolCalls != nil { // these send a call as an object, in one event
						c.want.ToolCalls[0].Arguments, c.outputs = strings.Replace(c.want.Arguments(), ": ", ":", 1), 1
					}
					assert.DeepEqual(t, got, c.want)
					assert.Equal(t, s.Outputs, c.outputs)
					ttfo, has := s.TTFO()
					assert.Equal(t, has, c.outputs > 0)
					first := map[int]int{0: 0, 1: 9, 5: 5, 10: 0}[c.outputs] // index of the token with the first output
					if has {
						assert.Equal(t, ttfo, 100*ms+time.Duration(first)*10*ms)
					}
					m := sample.Summarize(sample.All(samples...), sample.Elapsed(sample.All(samples...)), sample.SLO{}).Metrics
					_, reported := m["p50-ttfo-ns"]
					assert.Equal(t, reported, has && c.outputs < s.Deltas, "p50-ttfo-ns is only for answers with reasoning and output")
				})
			})
		}
	}
}

// TestAnswerWhole checks the text that is kept of an answer that was not streamed.
func TestAnswerWhole(t *testing.T) {
	cfg := mockserver.Config{Shape: shape.Shape{Reasoning: "reasoning", ToolCall: true}}
	bubble(t, cfg, Load{Requests: words(1, 4), Concurrency: 1, KeepText: true, NoStream: true}, func(samples []sample.Sample, _ *mockserver.Server) {
		assert.DeepEqual(t, *samples[0].Answer, sample.Answer{Reasoning: " the quick", ToolCalls: []sample.ToolCall{{Name: "speak", Arguments: `{"text": " brown fox"}`}}, Finish: samples[0].Finish})
		_, has := samples[0].TTFO()
		assert.Assert(t, !has)
	})
}

// TestAnswerOfFailedRequest checks that the kept text of a failed request does not contain text from an
// earlier answer.
func TestAnswerOfFailedRequest(t *testing.T) {
	cfg := mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP500, Every: 2}, {Kind: fault.Truncate, Every: 3, At: 1}}}
	bubble(t, cfg, Load{Requests: words(3, 3), Concurrency: 1, KeepText: true}, func(samples []sample.Sample, _ *mockserver.Server) {
		for i, want := range []string{" the quick brown", "", " the"} {
			assert.Equal(t, samples[i].Answer.Text, want)
		}
	})
}
