package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// geminiScript returns the output in the format that the body asks for, or nil if it asks for no
// format. If the body has functions, the output is a call if the mode requires a call.
func (in Input) geminiScript() (*script, *Error) {
	var w struct {
		Tools []struct {
			Functions []struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
				Schema     json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		ToolConfig struct {
			Calling struct {
				Mode    string   `json:"mode"`
				Allowed []string `json:"allowedFunctionNames"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Config struct {
			MIMEType   string          `json:"responseMimeType"`
			Schema     json.RawMessage `json:"responseSchema"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return nil, BadBody(err)
	}
	if calling := w.ToolConfig.Calling; calling.Mode == "ANY" {
		for _, t := range w.Tools {
			for _, f := range t.Functions {
				if f.Name != "" && (len(calling.Allowed) == 0 || slices.Contains(calling.Allowed, f.Name)) {
					return newScript("tools", f.Name, geminiSchema(f.Schema, f.Parameters))
				}
			}
		}
		return nil, BadRequest("tools", "tools: want functions with names, and allowedFunctionNames with one of them")
	}
	if w.Config.MIMEType != "application/json" {
		return nil, nil
	}
	return newScript("generationConfig", "", geminiSchema(w.Config.JSONSchema, w.Config.Schema))
}

// geminiSchema returns a JSON schema: schema, or if there is none, the conversion of an OpenAPI
// schema, whose types Google spells in upper case. It may be nil.
func geminiSchema(schema, openAPI json.RawMessage) json.RawMessage {
	if !absent(schema) || absent(openAPI) {
		return schema
	}
	var v any
	if json.Unmarshal(openAPI, &v) != nil {
		return openAPI // newScript reports the error
	}
	return jsontext.Marshal(lowerTypes(v))
}

// lowerTypes writes the names of the types in v in lower case, at each depth.
func lowerTypes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if name, ok := member.(string); ok && key == "type" {
				v[key] = strings.ToLower(name)
				continue
			}
			v[key] = lowerTypes(member)
		}
	case []any:
		for i := range v {
			v[i] = lowerTypes(v[i])
		}
	}
	return v
}
