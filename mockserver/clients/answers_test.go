package clients

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAnswers asks for four tokens in each way, streamed and not, and compares
// what was said, and the log.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  mockserver.Config
		ask  asking
		want said
	}{
		{"chat", mockserver.Config{}, chat, said{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"chat, end of text", mockserver.Config{OutputTokens: 2}, chat, said{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, chat, said{Text: " brown fox", Reasoning: " the quick", Finish: "length", Prompt: 3, Output: 4}},
		{"reasoning_content", mockserver.Config{Shape: shaped(t, "reasoning-content,reasoning-tokens=1")}, chat, said{Text: " quick brown fox", Reasoning: " the", Finish: "length", Prompt: 3, Output: 4}},
		{"tool call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, chat,
			said{Reasoning: " the", Tool: "speak", Arguments: `{"text": " quick brown fox"}`, Finish: "tool_calls", Prompt: 3, Output: 4}},
		{"completion", mockserver.Config{}, completion, said{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"completion, end of text", mockserver.Config{OutputTokens: 2}, completion, said{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"response", mockserver.Config{}, response, said{Text: " the quick brown fox", Finish: "incomplete: max_output_tokens", Prompt: 3, Output: 4}},
		{"response, end of text", mockserver.Config{OutputTokens: 2}, response, said{Text: " the quick", Finish: "completed", Prompt: 3, Output: 2}},
		{"response with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, response,
			said{Text: " brown fox", Reasoning: " the quick", Finish: "incomplete: max_output_tokens", Prompt: 3, Output: 4}},
		{"response with a tool call", mockserver.Config{Shape: shaped(t, "tool-call")}, response,
			said{Tool: "speak", Arguments: `{"text": " the quick brown fox"}`, Finish: "completed", Prompt: 3, Output: 4}},
		{"Ollama chat", mockserver.Config{}, ollamaChat, said{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama chat, end of text", mockserver.Config{OutputTokens: 2}, ollamaChat, said{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"Ollama thinking", mockserver.Config{Shape: shaped(t, "reasoning")}, ollamaChat, said{Text: " brown fox", Reasoning: " the quick", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama tool call", mockserver.Config{Shape: shaped(t, "tool-call")}, ollamaChat, said{Tool: "speak", Arguments: `{"text":" the quick brown fox"}`, Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama generate", mockserver.Config{}, ollamaGenerate, said{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama generate, end of text", mockserver.Config{OutputTokens: 2}, ollamaGenerate, said{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := serve(t, c.cfg)
			for _, stream := range []bool{true, false} {
				got, err := c.ask(t, m, 4, stream)
				assert.NilError(t, err)
				assert.DeepEqual(t, got, c.want)
			}
			for _, e := range m.Log() {
				assert.Assert(t, e.Status == 200 && !e.Aborted && e.PromptTokens == c.want.Prompt && e.OutputTokens == c.want.Output, "log has %+v", e)
			}
		})
	}
}
