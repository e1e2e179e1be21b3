package wire

import (
	"encoding/json"
)

// A format has the fields of a request that ask for a tool call or for JSON that conforms to a
// schema. It has the fields of all dialects.
type format struct {
	Tools          []formatTool    `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *schemaFormat   `json:"response_format"` // OpenAI's chat
	Text           json.RawMessage `json:"text"`            // the Responses API
	Format         json.RawMessage `json:"format"`          // Ollama
	JSONSchema     json.RawMessage `json:"json_schema"`     // llama.cpp
}

// A formatTool is a function that the model may call. In the Responses API the function's
// fields are members of the tool. In the other APIs they are members of the tool's member
// "function".
type formatTool struct {
	Type     string        `json:"type"`
	Function *toolFunction `json:"function"`
	toolFunction
}

type toolFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// A schemaFormat is a format for the output. In the Responses API the schema is a member of
// the format. In OpenAI's chat it is a member of the format's member "json_schema".
type schemaFormat struct {
	Type       string          `json:"type"`
	Schema     json.RawMessage `json:"schema"`
	JSONSchema *struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// script returns the output in the format that the body asks for, or nil if it asks for no
// format. If the body has tools, the output is a call if tool_choice requires a call.
func (in Input) script() (*script, *Error) { return in.scriptFor(false) }

// scriptOrCall is like script, but the output is a call whenever the body has tools.
func (in Input) scriptOrCall() (*script, *Error) { return in.scriptFor(true) }

// scriptFor does the work of script and scriptOrCall. If always is set, the output is a call whenever the body has tools.
func (in Input) scriptFor(always bool) (*script, *Error) {
	var f format
	if err := json.Unmarshal(in.Body, &f); err != nil {
		return nil, BadBody(err)
	}
	choice := string(f.ToolChoice)
	if len(f.Tools) > 0 && (always || choice == `"required"` || choice != "" && choice[0] == '{') {
		t := f.chosenTool()
		if t == nil || t.Name == "" {
			return nil, BadRequest("tools", "tools: want functions with names, and a tool_choice that names one of them")
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

// chosenTool returns the function that tool_choice names. If tool_choice names none, it
// returns the first function. It returns nil if there is no such function.
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

// script returns the output in this format, or nil for plain text. field is the name of the
// format's field, for errors.
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
	return nil, BadRequest(field, "%s.type: %q: want text, json_object or json_schema", field, f.Type)
}
