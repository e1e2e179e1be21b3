package wire

import (
	"encoding/json"
)

// A format is the part of a request that asks for a tool call or for JSON after a
// schema, in all dialects that have it.
type format struct {
	Tools          []formatTool    `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *schemaFormat   `json:"response_format"` // OpenAI's chat
	Text           json.RawMessage `json:"text"`            // the Responses API
	Format         json.RawMessage `json:"format"`          // Ollama
	JSONSchema     json.RawMessage `json:"json_schema"`     // llama.cpp
}

// A formatTool is a function. In the Responses API its fields are in the
// tool, in the other APIs in its member "function".
type formatTool struct {
	Type     string        `json:"type"`
	Function *toolFunction `json:"function"`
	toolFunction
}

type toolFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// A schemaFormat is a JSON schema. In the Responses API the schema is a member of
// the format, in OpenAI's chat of its member "json_schema".
type schemaFormat struct {
	Type       string          `json:"type"`
	Schema     json.RawMessage `json:"schema"`
	JSONSchema *struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// script returns the output that the body asks for, or nil if it asks for no
// format. A tool is called if tool_choice requires a call, or if callOptional is
// true.
func (in Input) script(callOptional bool) (*script, *Error) {
	if in.Shape.NoFormat {
		return nil, nil
	}
	var f format
	if err := json.Unmarshal(in.Body, &f); err != nil {
		return nil, BadBody(err)
	}
	choice := string(f.ToolChoice)
	if len(f.Tools) > 0 && (callOptional || choice == `"required"` || choice != "" && choice[0] == '{') {
		t := f.chosenTool()
		if t == nil || t.Name == "" {
			return nil, BadRequest("tools", "tools: want functions with a name, and a tool_choice of one of them")
		}
		return newScript("tools", t.Name, t.Parameters)
	}
	switch {
	case f.ResponseFormat != nil:
		return f.ResponseFormat.script("response_format")
	case len(f.Text) > 0 && f.Text[0] == '{':
		var text struct{ Format *schemaFormat }
		if err := json.Unmarshal(f.Text, &text); err != nil || text.Format == nil {
			return nil, nil
		}
		return text.Format.script("text.format")
	case !absent(f.Format) && string(f.Format) != `""`:
		schema := f.Format
		if string(schema) == `"json"` {
			schema = nil
		}
		return newScript("format", "", schema)
	case !absent(f.JSONSchema):
		return newScript("json_schema", "", f.JSONSchema)
	}
	return nil, nil
}

// chosenTool returns the function that tool_choice names, or the first. It returns
// nil if there is none.
func (f *format) chosenTool() *toolFunction {
	var named struct {
		Name     string
		Function struct{ Name string }
	}
	if len(f.ToolChoice) > 0 && f.ToolChoice[0] == '{' && json.Unmarshal(f.ToolChoice, &named) != nil {
		return nil
	}
	want := named.Name + named.Function.Name
	for i := range f.Tools {
		t := &f.Tools[i].toolFunction
		if f.Tools[i].Function != nil {
			t = f.Tools[i].Function
		}
		if want == "" || t.Name == want {
			return t
		}
	}
	return nil
}

// script returns the output in the format, or nil for plain text.
func (f *schemaFormat) script(field string) (*script, *Error) {
	switch f.Type {
	case "text":
		return nil, nil
	case "json_object":
		return newScript(field, "", nil)
	case "json_schema":
		if f.JSONSchema != nil {
			return newScript(field, "", f.JSONSchema.Schema)
		}
		return newScript(field, "", f.Schema)
	}
	return nil, BadRequest(field, "%s.type: %q, want text, json_object or json_schema", field, f.Type)
}
