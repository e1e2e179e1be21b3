package dialect

import "encoding/json"

// A chatTool is a tool in the form of OpenAI's chat API. Ollama uses the same form.
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

// A jsonSchema is a schema in the form of OpenAI's APIs.
type jsonSchema struct {
	Type   string          `json:"type,omitempty"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// schemaName is the name of every schema. OpenAI's APIs require a name, but do not use it.
const schemaName = "answer"
