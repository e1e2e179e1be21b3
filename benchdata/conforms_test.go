package benchdata

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func TestConforms(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	type call = sample.ToolCall
	text := llmbench.Request{Schema: json.RawMessage(schema)}
	tools := llmbench.Request{Tools: []llmbench.Tool{
		{Name: "f", Parameters: json.RawMessage(schema)},
		{Name: "g", Parameters: json.RawMessage(`{"type":"object"}`)},
	}}
	for _, c := range []struct {
		r    llmbench.Request
		a    sample.Answer
		want string // a part of the error; "" if no error is expected
	}{
		{text, sample.Answer{Text: ` {"n": 1} `, Reasoning: "not JSON"}, ""},
		{text, sample.Answer{Text: `{"n": 1`}, "the text is not JSON: unexpected EOF"},
		{text, sample.Answer{Text: `{"n": 1} {}`}, "the text is not JSON: "},
		{text, sample.Answer{Text: "Sure! {}"}, "the text is not JSON: "},
		{text, sample.Answer{}, "the text is not JSON: EOF"},
		{text, sample.Answer{Text: `{}`}, "missing property 'n'"},
		{text, sample.Answer{Text: `{"n": 1.5}`}, "got number, want integer"},
		{text, sample.Answer{Text: `{"n": 1, "m": 2}`}, "additional properties 'm' not allowed"},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: `{"n": 1}`}}}, ""},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: `{"n": 1}`}, {Name: "g", Arguments: "{}"}}, Text: "I call them."}, ""},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: `{"n": 1}`}, {Name: "f"}, {Name: "f"}}}, ""},
		{tools, sample.Answer{Text: "no"}, `the answer calls no tool; its text is "no"`},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: `{"n": `}}}, "the call of f is not JSON: unexpected EOF"},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f"}}}, `the answer calls the function "f" with the arguments ""; neither may be empty`},
		{tools, sample.Answer{ToolCalls: []call{{Arguments: "{}"}}}, `the answer calls the function "" with the arguments "{}"; neither may be empty`},
		{tools, sample.Answer{ToolCalls: []call{{Name: "g", Arguments: "{}"}, {Name: "f"}}}, `the answer calls the function "f" with the arguments ""`},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: `{"n": 1}`}, {Name: "g"}}}, `the answer calls the function "g" with the arguments ""`},
		{tools, sample.Answer{ToolCalls: []call{{Name: "h", Arguments: "{}"}}}, `the answer calls "h", which is not a tool of the request`},
		{tools, sample.Answer{ToolCalls: []call{{Name: "f", Arguments: "{}"}, {Name: "g", Arguments: "{}"}}}, "the call of f does not conform"},
		{llmbench.Request{Schema: json.RawMessage(`{"type":7}`)}, sample.Answer{Text: "{}"}, "invalid JSON schema"},
		{llmbench.Request{Schema: json.RawMessage(`{"$ref":"file:///etc/hostname"}`)}, sample.Answer{Text: "{}"}, "invalid JSON schema"},
		{llmbench.Request{Schema: json.RawMessage(`{`)}, sample.Answer{Text: "{}"}, "invalid JSON schema"},
	} {
		err := Conforms(c.r, c.a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Conforms(%+v) = %v, want %q", c.a, err, c.want)
		}
		if errors.Is(err, ErrSchema) != strings.HasPrefix(c.want, "invalid JSON schema") {
			t.Errorf("errors.Is(Conforms(%+v), ErrSchema) is wrong for %v", c.a, err)
		}
	}
}

// TestConformsShowsNoFile checks the whole text of errors, which has no file name of ours and one line.
func TestConformsShowsNoFile(t *testing.T) {
	for _, c := range []struct{ schema, text, want string }{
		{`{"type":"object","required":["n"]}`, `{}`, `the text does not conform to the schema: at '': missing property 'n'`},
		{`{"properties":{"a":{"type":"integer"},"b":{"minimum":2}}}`, `{"a":"x","b":1}`,
			`the text does not conform to the schema: at '/a': got string, want integer; at '/b': minimum: got 1, want 2`},
		{`{"$defs":{"d":{"type":"null"}},"$ref":"#/$defs/d"}`, `1`, `the text does not conform to the schema: at '': got number, want null`},
		{`{"anyOf":[{"type":"null"},{"type":"string"}]}`, `1`, `the text does not conform to the schema: at '': 'anyOf' failed; at '': got number, want null; at '': got number, want string`},
		// Package jsonschema finds these causes, and the names in the second one, in the order of maps.
		{`{"additionalProperties":false,"properties":{"o":{"propertyNames":{"maxLength":1}}},"dependentRequired":{"b":["n"],"c":["n"],"d":["n"]}}`, `{"b":1,"c":1,"d":1,"o":{"pp":1,"qq":1,"rr":1}}`,
			`the text does not conform to the schema: at '': additional properties 'b', 'c', 'd' not allowed; at '': properties 'n' required, if 'b' exists; at '': properties 'n' required, if 'c' exists; at '': properties 'n' required, if 'd' exists; ` +
				`at '/o': validation failed; at '/o': invalid propertyName 'pp'; at '': maxLength: got 2, want 1; at '/o': invalid propertyName 'qq'; at '': maxLength: got 2, want 1; at '/o': invalid propertyName 'rr'; at '': maxLength: got 2, want 1`},
		{`{"$ref":"other.json"}`, `1`, `invalid JSON schema: failing loading "other.json": no URLLoader registered for "other.json": "{\"$ref\":\"other.json\"}"`},
		{`{"type":7}`, `1`, `invalid JSON schema: "#" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'; at '': 'allOf' failed; at '/type': 'anyOf' failed; at '/type': got number, want array; at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string': "{\"type\":7}"`},
		{`{"minimum":"a","maximum":"b","properties":{"x":{"type":8}},"title":1}`, `1`,
			`invalid JSON schema: "#" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'; at '': 'allOf' failed; at '': validation failed; at '/maximum': got string, want number; at '/minimum': got string, want number; ` +
				`at '/properties/x': 'allOf' failed; at '/properties/x/type': 'anyOf' failed; at '/properties/x/type': got number, want array; at '/properties/x/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'; ` +
				`at '/title': got number, want string: "{\"minimum\":\"a\",\"maximum\":\"b\",\"properties\":{\"x\":{\"type\":8}},\"title\":1}"`},
	} {
		err := Conforms(llmbench.Request{Schema: json.RawMessage(c.schema)}, sample.Answer{Text: c.text})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.schema, err, c.want)
		}
	}
}

// FuzzConforms checks that a text conforms to a schema only if it is JSON, and that a call conforms
// to a tool only if it names the tool.
func FuzzConforms(f *testing.F) {
	f.Add("f", `{"n": 1}`, `{"n": 1}`)
	f.Add("f f", `{}{`, `[`)
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	f.Fuzz(func(t *testing.T, names, calls, text string) {
		a := sample.Answer{ToolCalls: []sample.ToolCall{{Name: names, Arguments: calls}}, Text: text}
		if Conforms(llmbench.Request{Schema: schema}, a) == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q conforms, but is not JSON", text)
		}
		if Conforms(llmbench.Request{Tools: []llmbench.Tool{{Name: "f", Parameters: schema}}}, a) == nil && !strings.Contains(names, "f") {
			t.Errorf("calls of %q conform, but the tool is f", names)
		}
	})
}
