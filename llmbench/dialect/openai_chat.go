package dialect

import "encoding/json"

// OpenAIChat is the chat completions API (/v1/chat/completions,
// https://platform.openai.com/docs/api-reference/chat), as inference servers offer it. The server applies
// its chat template to the messages, so that its prompt has more tokens than the text of the request.
type OpenAIChat struct{}

// Name returns "openai-chat".
func (OpenAIChat) Name() string { return "openai-chat" }

// Path returns "/v1/chat/completions".
func (OpenAIChat) Path(Query) string { return "/v1/chat/completions" }

// Body returns the JSON body for q.
func (d OpenAIChat) Body(q Query) ([]byte, error) {
	if err := checkQuery(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOpenAIBody(q)
	b.Messages = q.conversation()
	if len(q.Tools) > 0 {
		b.Tools, b.ToolChoice = chatTools(q.Tools), "required"
	}
	if len(q.Schema) > 0 {
		b.ResponseFormat = &responseFormat{"json_schema", jsonSchema{Name: schemaName, Strict: true, Schema: q.Schema}}
	}
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d OpenAIChat) NewParser() Parser { return newOpenAIParser(d.Name()) }
