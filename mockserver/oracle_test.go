package mockserver

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// TestOracle checks that each API gives the right answer to a prompt that the oracle knows. The output must
// end with the answer, and the request's limits must apply.
func TestOracle(t *testing.T) {
	const right = "2 + 3 = 5. The answer is 5."
	own := func(prompt string) (string, bool) { return "Rome", prompt == "capital of Italy" }
	for _, test := range []struct {
		name, path, body string
		cfg              Config
		tokens           int
		want             string
	}{
		{"chat", chatPath, `{"messages":[{"content":"Add."},{"content":"What is 2 + 3?"}],"max_tokens":50}`, Config{}, 9, right},
		{"parts", chatPath, `{"messages":[{"content":[{"type":"text","text":"What is 2 + 3?"}]}],"max_tokens":50}`, Config{}, 9, right},
		{"completion", "/v1/completions", `{"prompt":"Question: What is 2 + 3?\nAnswer:","max_tokens":50}`, Config{}, 9, right},
		{"responses", "/v1/responses", `{"input":"What is 2 + 3?","max_output_tokens":50}`, Config{}, 9, right},
		{"responses, items", "/v1/responses", `{"input":[{"role":"user","content":"What is 2 + 3?"}],"max_output_tokens":50}`, Config{}, 9, right},
		{"anthropic", "/v1/messages", `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":50}`, Config{}, 9, right},
		{"cohere", "/v2/chat", `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":50}`, Config{}, 9, right},
		{"gemini", geminiPath, `{"contents":[{"parts":[{"text":"What is 2 + 3?"}]}],"generationConfig":{"maxOutputTokens":50}}`, Config{}, 9, `"finishReason":"STOP"`},
		{"converse", "/model/m/converse", `{"messages":[{"content":[{"text":"What is 2 + 3?"}]}]}`, Config{}, 9, right},
		{"ollama", "/api/chat", `{"stream":false,"messages":[{"content":"What is 2 + 3?"}]}`, Config{}, 9, right},
		{"tgi", "/generate", `{"inputs":"What is 2 + 3?","parameters":{"max_new_tokens":50}}`, Config{Flavor: "tgi"}, 9, right},
		{"sglang", "/generate", `{"text":"What is 2 + 3?","sampling_params":{"max_new_tokens":50}}`, Config{Flavor: "sglang"}, 9, right},
		{"reasoning", chatPath, `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":50}`, Config{Shape: shape.Shape{Reasoning: "reasoning", ReasoningTokens: 4}}, 13, right},
		{"limited", chatPath, `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":5}`, Config{}, 5, `"2 + 3 = 5."`},
		{"longer", chatPath, `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":11,"ignore_eos":true}`, Config{}, 11, right + " while seven"},
		{"at least", chatPath, `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":50,"min_tokens":10}`, Config{}, 10, right + " while"},
		{"a schema", chatPath, `{"messages":[{"content":"What is 2 + 3?"}],"max_tokens":50,"response_format":{"type":"json_object"}}`, Config{}, 0, `{\"text\"`},
		{"unknown", chatPath, `{"messages":[{"content":"What is two?"}],"max_tokens":5}`, Config{}, 5, "the quick brown"},
		{"own oracle", "/v1/completions", `{"prompt":"capital of Italy","max_tokens":5}`, Config{Oracle: own}, 1, `"Rome"`},
		{"not known to the own oracle", "/v1/completions", `{"prompt":"What is 2 + 3?","max_tokens":5}`, Config{Oracle: own}, 5, "the quick brown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, test.cfg)
				text := r.must(test.path, test.body)
				if !strings.Contains(text, test.want) {
					t.Errorf("got %s, want %q in it", text, test.want)
				}
				if got := len(r.only().Tokens); test.tokens > 0 && got != test.tokens {
					t.Errorf("got %d tokens, want %d", got, test.tokens)
				}
			})
		})
	}
}

// TestOracleStreams checks that a streamed answer has the same text for any number of tokens per chunk.
func TestOracleStreams(t *testing.T) {
	for _, chunk := range []int{1, 2, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, Config{Shape: shape.Shape{TokensPerChunk: chunk}})
			var text string
			for line := range strings.Lines(r.must(chatPath, `{"messages":[{"content":"What is 2 + 3 - 9?"}],"max_tokens":50,"stream":true}`)) {
				var event struct {
					Choices []struct{ Delta struct{ Content string } }
				}
				if data, found := strings.CutPrefix(line, "data: {"); found {
					if err := json.Unmarshal([]byte("{"+data), &event); err != nil {
						t.Fatal(err)
					}
					text += event.Choices[0].Delta.Content
				}
			}
			if want := "2 + 3 = 5. 5 - 9 = -4. The answer is -4."; text != want {
				t.Errorf("chunks of %d: got %q, want %q", chunk, text, want)
			}
		})
	}
}
