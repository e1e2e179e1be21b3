package dialect

import (
	"encoding/json"
	"net/http"
	"strings"
)

// AnthropicMessages is Anthropic's API (/v1/messages, https://platform.claude.com/docs/en/api/messages). The
// events of a stream have names (https://platform.claude.com/docs/en/build-with-claude/streaming). The last
// event is message_stop. vLLM, llama.cpp, Ollama and gateways offer this API, too.
type AnthropicMessages struct{}

// Name returns "anthropic-messages".
func (AnthropicMessages) Name() string { return "anthropic-messages" }

// Path returns "/v1/messages".
func (AnthropicMessages) Path(Query) string { return "/v1/messages" }

// Header returns the version of the API, which Anthropic requires
// (https://platform.claude.com/docs/en/api/versioning).
func (AnthropicMessages) Header() http.Header {
	return http.Header{"Anthropic-Version": {"2023-06-01"}}
}

// KeyHeader returns the field X-Api-Key.
func (AnthropicMessages) KeyHeader(key string) (name, value string) { return "X-Api-Key", key }

// Body returns the JSON body for q. The API has no option that prevents a model from ending its text early,
// so FixedOutput only sets the limit. Messages with the role "system" become the system prompt, because the
// API has no such role. The body asks for temperature 0. Some models accept no temperature; then remove it
// with a body patch, {"temperature":null}.
func (d AnthropicMessages) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := newAnthropicBody(q)
	b.Model, b.Stream = q.Model, &q.Stream
	return json.Marshal(b)
}

// anthropicBody is the request body of Anthropic's API. In Bedrock's form of the API, the path has the model
// and says whether the answer is a stream.
type anthropicBody struct {
	Version     string    `json:"anthropic_version,omitempty"` // only in Bedrock's form
	Model       string    `json:"model,omitempty"`
	System      string    `json:"system,omitempty"`
	Messages    []Message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	Stream      *bool     `json:"stream,omitempty"`

	Tools        []anthropicTool        `json:"tools,omitempty"`
	ToolChoice   *anthropicChoice       `json:"tool_choice,omitempty"`
	OutputConfig *anthropicOutputConfig `json:"output_config,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type anthropicChoice struct {
	Type string `json:"type"`
}

type anthropicOutputConfig struct {
	Format anthropicFormat `json:"format"`
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// newAnthropicBody returns the members of the body for q that both forms of the API have.
func newAnthropicBody(q Query) anthropicBody {
	b := anthropicBody{MaxTokens: q.MaxTokens}
	b.System, b.Messages = q.systemAndTurns()
	for _, t := range q.Tools {
		b.Tools = append(b.Tools, anthropicTool{t.Name, t.Description, t.Parameters})
		b.ToolChoice = &anthropicChoice{"any"}
	}
	if len(q.Schema) > 0 {
		b.OutputConfig = &anthropicOutputConfig{anthropicFormat{"json_schema", q.Schema}}
	}
	return b
}

// systemAndTurns returns the conversation in two parts: the texts of the system, separated by blank lines,
// and the turns of the user and of the assistant.
func (q Query) systemAndTurns() (system string, turns []Message) {
	var texts []string
	turns = []Message{}
	for _, m := range q.conversation() {
		if m.Role == "system" {
			texts = append(texts, m.Content)
			continue
		}
		turns = append(turns, m)
	}
	return strings.Join(texts, "\n\n"), turns
}
