package dialect

import "encoding/json"

// OpenAICompletions is the completions API (/v1/completions,
// https://platform.openai.com/docs/api-reference/completions). The server continues the prompt without
// applying a chat template.
type OpenAICompletions struct{}

// Name returns "openai-completions".
func (OpenAICompletions) Name() string { return "openai-completions" }

// Path returns "/v1/completions".
func (OpenAICompletions) Path(Query) string { return "/v1/completions" }

// Body returns the JSON body for q, which must not be a conversation.
func (d OpenAICompletions) Body(q Query) ([]byte, error) {
	if err := checkPrompt(d.Name(), q); err != nil {
		return nil, err
	}
	b := newOpenAIBody(q)
	b.Prompt = q.Prompt
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d OpenAICompletions) NewParser() Parser { return newOpenAIParser(d.Name()) }
