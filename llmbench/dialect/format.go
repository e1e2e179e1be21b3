package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Tool is a function that a request offers to the model.
type Tool struct {
	Name        string
	Description string          // what it does, for the model; may be empty
	Parameters  json.RawMessage // JSON schema of its arguments, an object
}

// checkQuery says why q cannot be asked of any server.
func checkQuery(dialect string, q Query) error {
	if q.MaxTokens < 1 {
		return fmt.Errorf("%s: max tokens %d; must be at least 1", dialect, q.MaxTokens)
	}
	formatted := len(q.Tools) > 0 || len(q.Schema) > 0
	switch {
	case len(q.Tools) > 0 && len(q.Schema) > 0:
		return fmt.Errorf("%s: both tools and a schema; want one of them", dialect)
	case formatted && q.FixedOutput:
		return fmt.Errorf("%s: tools or a schema and a fixed output; an answer in a format ends where it is complete", dialect)
	case len(q.Schema) > 0 && !json.Valid(q.Schema):
		return fmt.Errorf("%s: the schema is not JSON: %.100q", dialect, q.Schema)
	}
	for i, t := range q.Tools {
		if t.Name == "" || !json.Valid(t.Parameters) {
			return fmt.Errorf("%s: tool %d, %q, with parameters %.100q; want a name and a JSON schema", dialect, i, t.Name, t.Parameters)
		}
	}
	return nil
}

// An unsupported is what a dialect cannot say: it is [errors.ErrUnsupported].
type unsupported string

func (u unsupported) Error() string        { return string(u) }
func (u unsupported) Is(target error) bool { return target == errors.ErrUnsupported }

// noTools says why q cannot be sent to an endpoint that knows no tools.
func noTools(dialect string, q Query) error {
	if len(q.Tools) > 0 {
		return unsupported(fmt.Sprintf("%s: %d tools; they cannot be offered", dialect, len(q.Tools)))
	}
	return nil
}

// noSchema says why q cannot be sent to an endpoint whose output has no format.
func noSchema(dialect string, q Query) error {
	if len(q.Schema) > 0 {
		return unsupported(dialect + ": a schema; the output has no format")
	}
	return nil
}

// A chatTool is a tool as OpenAI's chat API and Ollama's want it.
type chatTool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func chatTools(tools []Tool) []chatTool {
	var all []chatTool
	for _, t := range tools {
		all = append(all, chatTool{"function", toolFunction(t)})
	}
	return all
}

// A jsonSchema is a schema as OpenAI's APIs want it.
type jsonSchema struct {
	Type   string          `json:"type,omitempty"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// schemaName is what a schema is called, which no server uses.
const schemaName = "answer"
