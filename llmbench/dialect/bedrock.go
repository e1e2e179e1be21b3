package dialect

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/frames"
)

// BedrockConverse is the Converse API of Amazon Bedrock (/model/M/converse-stream and /converse,
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html). A stream is
// binary: application/vnd.amazon.eventstream. Its last message is metadata, with the token counts. Requests
// carry an API key of Bedrock as a bearer token
// (https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html), or are signed with AWS keys.
type BedrockConverse struct{}

// Name returns "bedrock-converse".
func (BedrockConverse) Name() string { return "bedrock-converse" }

// Path returns the path of q's model.
func (BedrockConverse) Path(q Query) string {
	if q.Stream {
		return bedrockPath(q) + "converse-stream"
	}
	return bedrockPath(q) + "converse"
}

// Body returns the JSON body for q. The API has no option that prevents a model from ending its text early,
// so FixedOutput only sets the limit. A schema is sent as a string
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_JsonSchemaDefinition.html).
func (d BedrockConverse) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := converseBody{Messages: []converseMessage{}, Config: converseConfig{MaxTokens: q.MaxTokens}}
	system, turns := q.systemAndTurns()
	if system != "" {
		b.System = []converseText{{system}}
	}
	for _, m := range turns {
		b.Messages = append(b.Messages, converseMessage{m.Role, []converseText{{m.Content}}})
	}
	if len(q.Tools) > 0 {
		b.ToolConfig = &converseToolConfig{Choice: converseChoice{Any: &struct{}{}}}
		for _, t := range q.Tools {
			b.ToolConfig.Tools = append(b.ToolConfig.Tools, converseTool{converseSpec{t.Name, t.Description, converseSchema{t.Parameters}}})
		}
	}
	if len(q.Schema) > 0 {
		b.OutputConfig = &converseOutput{converseFormat{"json_schema", converseStructure{converseDefinition{string(q.Schema), schemaName}}}}
	}
	return json.Marshal(b)
}

// AWSService returns "bedrock".
func (BedrockConverse) AWSService() string { return bedrockService }

// MediaType returns "application/vnd.amazon.eventstream".
func (BedrockConverse) MediaType() string { return eventStreamType }

// NewDecoder returns a decoder of Amazon's event stream. The ID of an event is the type of its message, such
// as "event" or "exception".
func (BedrockConverse) NewDecoder(body io.Reader) Decoder { return frames.NewMessages(body) }

const eventStreamType = "application/vnd.amazon.eventstream"

// bedrockService is Bedrock's name in the scope of a signature
// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html).
const bedrockService = "bedrock"

// bedrockPath returns the path of q's model, with a slash at the end. The colon of a version such as v1:0 is
// escaped, as AWS's clients do.
func bedrockPath(q Query) string {
	return "/model/" + strings.ReplaceAll(url.PathEscape(q.Model), ":", "%3A") + "/"
}

type converseBody struct {
	System     []converseText      `json:"system,omitempty"`
	Messages   []converseMessage   `json:"messages"`
	Config     converseConfig      `json:"inferenceConfig"`
	ToolConfig *converseToolConfig `json:"toolConfig,omitempty"`

	OutputConfig *converseOutput `json:"outputConfig,omitempty"`
}

type converseOutput struct {
	TextFormat converseFormat `json:"textFormat"`
}

type converseFormat struct {
	Type      string            `json:"type"`
	Structure converseStructure `json:"structure"`
}

type converseStructure struct {
	JSONSchema converseDefinition `json:"jsonSchema"`
}

type converseDefinition struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

type converseMessage struct {
	Role    string         `json:"role"`
	Content []converseText `json:"content"`
}

type converseText struct {
	Text string `json:"text"`
}

type converseConfig struct {
	MaxTokens   int     `json:"maxTokens"`
	Temperature float64 `json:"temperature"`
}

type converseToolConfig struct {
	Tools  []converseTool `json:"tools"`
	Choice converseChoice `json:"toolChoice"`
}

type converseChoice struct {
	Any *struct{} `json:"any"`
}

type converseTool struct {
	Spec converseSpec `json:"toolSpec"`
}

type converseSpec struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema converseSchema `json:"inputSchema"`
}

type converseSchema struct {
	JSON json.RawMessage `json:"json"`
}

// BedrockInvoke is the invoke API of Amazon Bedrock for models of Anthropic
// (/model/M/invoke-with-response-stream and /invoke,
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html). Its
// bodies are the bodies of [AnthropicMessages]. A stream is binary, as in [BedrockConverse]: each message
// carries one of Anthropic's events. Requests are authorized as in BedrockConverse.
type BedrockInvoke struct{}

// Name returns "bedrock-invoke".
func (BedrockInvoke) Name() string { return "bedrock-invoke" }

// Path returns the path of q's model.
func (BedrockInvoke) Path(q Query) string {
	if q.Stream {
		return bedrockPath(q) + "invoke-with-response-stream"
	}
	return bedrockPath(q) + "invoke"
}

// Body returns the JSON body for q, see [AnthropicMessages.Body].
func (d BedrockInvoke) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := newAnthropicBody(q)
	b.Version = "bedrock-2023-05-31"
	return json.Marshal(b)
}

// AWSService returns "bedrock".
func (BedrockInvoke) AWSService() string { return bedrockService }

// MediaType returns "application/vnd.amazon.eventstream".
func (BedrockInvoke) MediaType() string { return eventStreamType }

// NewDecoder returns a decoder of Amazon's event stream, see [BedrockConverse.NewDecoder].
func (BedrockInvoke) NewDecoder(body io.Reader) Decoder { return frames.NewMessages(body) }
