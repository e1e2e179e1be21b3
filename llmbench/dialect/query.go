package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// A Tool is a function that a request offers to the model.
type Tool struct {
	Name        string
	Description string          // what the function does, for the model; may be empty
	Parameters  json.RawMessage // JSON schema of the arguments, an object
}

// A Query is one request, independent of the server's API.
type Query struct {
	Model string // if empty, the request names no model
	// Prompt is the text to continue. In a chat, Prompt is the only message
	// and has the role "user", unless Messages is set.
	Prompt string
	// Messages is the conversation that a chat sends, instead of Prompt.
	Messages []Message
	// Inputs are the texts of a request that has an answer for each text: the texts to embed, or the
	// documents to rank. Only [Embeddings], [Rerank] and similar dialects have inputs; their MaxTokens is 0.
	Inputs []string
	// MaxTokens limits the output, in tokens. The minimum is 1, or 0 if there are inputs.
	MaxTokens int
	// FixedOutput asks the server for exactly MaxTokens tokens. TGI, Ollama, MindIE's /infer and the APIs of
	// Anthropic, Google, Amazon and Cohere have no such option. With these, the request only has the limit, and
	// the answer may be shorter.
	FixedOutput bool
	// Stream asks for a streamed answer.
	Stream bool
	// Tools are functions that the model can call. The answer must call one of them, but Ollama has no way
	// to demand a call, so its answer may have none.
	Tools []Tool
	// Schema is a JSON schema that the text of the answer must conform to. At
	// most one of Tools, Schema and FixedOutput may be set.
	Schema json.RawMessage
}

// conversation returns the messages that a chat sends.
func (q Query) conversation() []Message {
	if len(q.Messages) > 0 {
		return q.Messages
	}
	return []Message{{Role: "user", Content: q.Prompt}}
}

// checkQuery returns an error if q is invalid for every dialect. Its errors, and the errors of the checks
// below, begin with the name of the dialect.
func checkQuery(dialect string, q Query) error {
	if len(q.Inputs) > 0 {
		return unsupportedError(fmt.Sprintf("%s: %d inputs; the API generates text for a prompt", dialect, len(q.Inputs)))
	}
	if q.MaxTokens < 1 {
		return fmt.Errorf("%s: max tokens %d: want at least 1", dialect, q.MaxTokens)
	}
	formatted := len(q.Tools) > 0 || len(q.Schema) > 0
	switch {
	case len(q.Tools) > 0 && len(q.Schema) > 0:
		return fmt.Errorf("%s: both tools and a schema; at most one of them is allowed", dialect)
	case formatted && q.FixedOutput:
		return fmt.Errorf("%s: a fixed output with tools or a schema; a formatted answer ends where its format is complete", dialect)
	case len(q.Schema) > 0 && !json.Valid(q.Schema):
		return fmt.Errorf("%s: the schema is not JSON: %.100q", dialect, q.Schema)
	}
	for i, t := range q.Tools {
		if t.Name == "" || !json.Valid(t.Parameters) {
			return fmt.Errorf("%s: tool %d has name %q and parameters %.100q: want a name and a JSON schema", dialect, i, t.Name, t.Parameters)
		}
	}
	return nil
}

// checkPrompt returns an error if q cannot be sent to an endpoint that only
// continues a text.
func checkPrompt(dialect string, q Query) error {
	err := checkPromptOrSchema(dialect, q)
	if err == nil && len(q.Schema) > 0 {
		err = unsupportedError(dialect + ": a schema; the API has no output format")
	}
	return err
}

// checkPromptOrSchema is like checkPrompt, for an endpoint that accepts schemas.
func checkPromptOrSchema(dialect string, q Query) error {
	if len(q.Messages) > 0 {
		return unsupportedError(fmt.Sprintf("%s: a conversation of %d messages; only a prompt can be sent", dialect, len(q.Messages)))
	}
	err := checkQuery(dialect, q)
	if err == nil && len(q.Tools) > 0 {
		err = unsupportedError(fmt.Sprintf("%s: %d tools; the API has no tools", dialect, len(q.Tools)))
	}
	return err
}

// An unsupportedError reports that a dialect cannot express something. errors.Is matches it with
// [errors.ErrUnsupported].
type unsupportedError string

func (e unsupportedError) Error() string        { return string(e) }
func (e unsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }
