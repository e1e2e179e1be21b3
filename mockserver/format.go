package mockserver

import (
	"encoding/json"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A format is what a request wants its answer to look like, in OpenAI's words and
// in Ollama's, llama.cpp's and those of the Responses API.
type format struct {
	Tools          []formatTool    `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *schemaFormat   `json:"response_format"` // OpenAI's chat
	Text           json.RawMessage `json:"text"`            // the Responses API
	Format         json.RawMessage `json:"format"`          // Ollama
	JSONSchema     json.RawMessage `json:"json_schema"`     // llama.cpp
}

// A formatTool is a function: the Responses API has its fields in the tool itself.
type formatTool struct {
	Type     string        `json:"type"`
	Function *toolFunction `json:"function"`
	toolFunction
}

type toolFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// A schemaFormat is a JSON schema: the Responses API has it in the format itself.
type schemaFormat struct {
	Type       string          `json:"type"`
	Schema     json.RawMessage `json:"schema"`
	JSONSchema *struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// A script is the text of an answer that was asked for in a format: one word of
// it, with the space before it, is a token.
type script struct {
	call string   // the function that it is the arguments of, empty for none
	text string   // the JSON
	json []string // the tokens as they stand in a JSON string
}

// written returns the script of what the body asks for, nil if that is nothing in
// particular. Tools that may be called or not, as OpenAI's may unless tool_choice
// says otherwise, are not called; willing says that they are.
func (in input) written(willing bool) (*script, *apiError) {
	if in.shape.NoFormat {
		return nil, nil
	}
	var f format
	if err := json.Unmarshal(in.body, &f); err != nil {
		return nil, badBody(err)
	}
	choice := string(f.ToolChoice)
	if len(f.Tools) > 0 && (willing || choice == `"required"` || choice != "" && choice[0] == '{') {
		t := f.chosen()
		if t == nil || t.Name == "" {
			return nil, badRequest("tools", "tools: want functions with a name, and a tool_choice of one of them")
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

// chosen returns the function that is called: the one named, else the first.
func (f *format) chosen() *toolFunction {
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

func (f *schemaFormat) script(field string) (*script, *apiError) {
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
	return nil, badRequest(field, "%s.type: %q, want text, json_object or json_schema", field, f.Type)
}

// newScript writes an instance of the schema, or of an object if there is none.
func newScript(field, call string, schema json.RawMessage) (*script, *apiError) {
	if absent(schema) {
		schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	}
	text, err := instance(schema)
	if err != nil {
		return nil, badRequest(field, "%s: no schema that this server can write for: %v", field, err)
	}
	s := &script{call: call, text: text}
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			word = " " + word
		}
		q := quoted(word)
		s.json = append(s.json, q[1:len(q)-1])
	}
	return s, nil
}

// words is how many tokens there are, with those of reasoning before them.
func (s *script) words(shape shape.Shape) int {
	n := len(s.json)
	switch {
	case shape.Reasoning == "":
		return n
	case shape.ReasoningTokens == 0: // as many again
		return 2 * n
	}
	return n + shape.ReasoningTokens
}

// cut reports whether the output ends before the script does.
func (r *request) cut(reason int) bool {
	return r.script != nil && r.output-reason < len(r.script.json)
}
