package clients

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestAnswers requests four tokens through each API, with and without streaming, and checks the
// answer and the log.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  mockserver.Config
		ask  request
		want reply
	}{
		{"chat", mockserver.Config{}, chat, reply{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"chat, end of text", mockserver.Config{OutputTokens: 2}, chat, reply{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, chat, reply{Text: " brown fox", Reasoning: " the quick", Finish: "length", Prompt: 3, Output: 4}},
		{"reasoning_content", mockserver.Config{Shape: shaped(t, "reasoning-content,reasoning-tokens=1")}, chat, reply{Text: " quick brown fox", Reasoning: " the", Finish: "length", Prompt: 3, Output: 4}},
		{"tool call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, chat,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text": " quick brown fox"}`, Finish: "tool_calls", Prompt: 3, Output: 4}},
		{"completion", mockserver.Config{}, completion, reply{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"completion, end of text", mockserver.Config{OutputTokens: 2}, completion, reply{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"response", mockserver.Config{}, response, reply{Text: " the quick brown fox", Finish: "incomplete: max_output_tokens", Prompt: 3, Output: 4}},
		{"response, end of text", mockserver.Config{OutputTokens: 2}, response, reply{Text: " the quick", Finish: "completed", Prompt: 3, Output: 2}},
		{"response with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, response,
			reply{Text: " brown fox", Reasoning: " the quick", Finish: "incomplete: max_output_tokens", Prompt: 3, Output: 4}},
		{"response with a tool call", mockserver.Config{Shape: shaped(t, "tool-call")}, response,
			reply{Tool: "speak", Arguments: `{"text": " the quick brown fox"}`, Finish: "completed", Prompt: 3, Output: 4}},
		{"Anthropic", mockserver.Config{}, message, reply{Text: " the quick brown fox", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Anthropic, end of text", mockserver.Config{OutputTokens: 2}, message, reply{Text: " the quick", Finish: "end_turn", Prompt: 3, Output: 2}},
		{"Anthropic with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, message, reply{Text: " brown fox", Reasoning: " the quick", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Anthropic with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, message,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text":" quick brown fox"}`, Finish: "tool_use", Prompt: 3, Output: 4}},
		{"Gemini", mockserver.Config{}, gemini, reply{Text: " the quick brown fox", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Gemini, end of text", mockserver.Config{OutputTokens: 2}, gemini, reply{Text: " the quick", Finish: "STOP", Prompt: 3, Output: 2}},
		{"Gemini with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, gemini, reply{Text: " brown fox", Reasoning: " the quick", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Gemini with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, gemini,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text":" quick brown fox"}`, Finish: "STOP", Prompt: 3, Output: 4}},
		{"Vertex", mockserver.Config{}, vertex, reply{Text: " the quick brown fox", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Vertex, end of text", mockserver.Config{OutputTokens: 2}, vertex, reply{Text: " the quick", Finish: "STOP", Prompt: 3, Output: 2}},
		{"Vertex with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, vertex, reply{Text: " brown fox", Reasoning: " the quick", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Vertex with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, vertex,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text":" quick brown fox"}`, Finish: "STOP", Prompt: 3, Output: 4}},
		{"Converse", mockserver.Config{}, converse, reply{Text: " the quick brown fox", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Converse, end of text", mockserver.Config{OutputTokens: 2}, converse, reply{Text: " the quick", Finish: "end_turn", Prompt: 3, Output: 2}},
		{"Converse with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, converse, reply{Text: " brown fox", Reasoning: " the quick", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Converse with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, converse,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text":" quick brown fox"}`, Finish: "tool_use", Prompt: 3, Output: 4}},
		{"Bedrock invoke", mockserver.Config{}, invoke, reply{Text: " the quick brown fox", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Bedrock invoke, end of text", mockserver.Config{OutputTokens: 2}, invoke, reply{Text: " the quick", Finish: "end_turn", Prompt: 3, Output: 2}},
		{"Bedrock invoke with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, invoke, reply{Text: " brown fox", Reasoning: " the quick", Finish: "max_tokens", Prompt: 3, Output: 4}},
		{"Bedrock invoke with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, invoke,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text":" quick brown fox"}`, Finish: "tool_use", Prompt: 3, Output: 4}},
		{"Cohere", mockserver.Config{}, cohereChat, reply{Text: " the quick brown fox", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Cohere, end of text", mockserver.Config{OutputTokens: 2}, cohereChat, reply{Text: " the quick", Finish: "COMPLETE", Prompt: 3, Output: 2}},
		{"Cohere with reasoning", mockserver.Config{Shape: shaped(t, "reasoning")}, cohereChat, reply{Text: " brown fox", Reasoning: " the quick", Finish: "MAX_TOKENS", Prompt: 3, Output: 4}},
		{"Cohere with a call", mockserver.Config{Shape: shaped(t, "tool-call,reasoning,reasoning-tokens=1")}, cohereChat,
			reply{Reasoning: " the", Tool: "speak", Arguments: `{"text": " quick brown fox"}`, Finish: "TOOL_CALL", Prompt: 3, Output: 4}},
		{"Ollama chat", mockserver.Config{}, ollamaChat, reply{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama chat, end of text", mockserver.Config{OutputTokens: 2}, ollamaChat, reply{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
		{"Ollama thinking", mockserver.Config{Shape: shaped(t, "reasoning")}, ollamaChat, reply{Text: " brown fox", Reasoning: " the quick", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama tool call", mockserver.Config{Shape: shaped(t, "tool-call")}, ollamaChat, reply{Tool: "speak", Arguments: `{"text":" the quick brown fox"}`, Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama generate", mockserver.Config{}, ollamaGenerate, reply{Text: " the quick brown fox", Finish: "length", Prompt: 3, Output: 4}},
		{"Ollama generate, end of text", mockserver.Config{OutputTokens: 2}, ollamaGenerate, reply{Text: " the quick", Finish: "stop", Prompt: 3, Output: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := serve(t, c.cfg)
			for _, stream := range []bool{true, false} {
				got, err := c.ask(t, m, 4, stream)
				assert.NilError(t, err)
				got.Arguments, c.want.Arguments = compact(got.Arguments), compact(c.want.Arguments) // an SDK may write them anew
				assert.DeepEqual(t, got, c.want)
			}
			for _, e := range m.Log() {
				assert.Assert(t, e.Status == 200 && !e.Aborted && e.PromptTokens == c.want.Prompt && e.OutputTokens == c.want.Output, "log has %+v", e)
			}
		})
	}
}
