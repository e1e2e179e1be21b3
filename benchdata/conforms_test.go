package benchdata

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

func TestConforms(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	text := llmbench.Request{Schema: json.RawMessage(schema)}
	tools := llmbench.Request{Tools: []llmbench.Tool{
		{Name: "f", Parameters: json.RawMessage(schema)},
		{Name: "g", Parameters: json.RawMessage(`{"type":"object"}`)},
	}}
	for _, c := range []struct {
		r    llmbench.Request
		a    llmbench.Answer
		want string // in the error; "" is none
	}{
		{text, llmbench.Answer{Text: ` {"n": 1} `, Reasoning: "not JSON"}, ""},
		{text, llmbench.Answer{Text: `{"n": 1`}, "the text is not JSON: unexpected EOF"},
		{text, llmbench.Answer{Text: `{"n": 1} {}`}, "the text is not JSON: "},
		{text, llmbench.Answer{Text: "Sure! {}"}, "the text is not JSON: "},
		{text, llmbench.Answer{}, "the text is not JSON: EOF"},
		{text, llmbench.Answer{Text: `{}`}, "missing property 'n'"},
		{text, llmbench.Answer{Text: `{"n": 1.5}`}, "got number, want integer"},
		{text, llmbench.Answer{Text: `{"n": 1, "m": 2}`}, "additional properties 'm' not allowed"},
		{tools, llmbench.Answer{ToolNames: "f", ToolCalls: `{"n": 1}`}, ""},
		{tools, llmbench.Answer{ToolNames: "f g", ToolCalls: `{"n": 1}{}`, Text: "I call them."}, ""},
		{tools, llmbench.Answer{ToolNames: "f f f", ToolCalls: `{"n": 1}`}, ""},
		{tools, llmbench.Answer{Text: "no"}, `no call: "no"`},
		{tools, llmbench.Answer{ToolNames: "f", ToolCalls: `{"n": `}, "the arguments are not JSON: unexpected EOF"},
		{tools, llmbench.Answer{ToolNames: "f"}, `1 names of functions ("f") for the arguments of 0`},
		{tools, llmbench.Answer{ToolCalls: "{}"}, `0 names of functions ("") for the arguments of 1`},
		{tools, llmbench.Answer{ToolNames: "f g", ToolCalls: "{}"}, "2 names of functions"},
		{tools, llmbench.Answer{ToolNames: "h", ToolCalls: "{}"}, `a call of "h", which was not offered`},
		{tools, llmbench.Answer{ToolNames: "f g", ToolCalls: `{}{}`}, "the call of f does not conform"},
		{llmbench.Request{Schema: json.RawMessage(`{"type":7}`)}, llmbench.Answer{Text: "{}"}, "not a JSON schema that can be used"},
		{llmbench.Request{Schema: json.RawMessage(`{"$ref":"file:///etc/hostname"}`)}, llmbench.Answer{Text: "{}"}, "not a JSON schema that can be used"},
		{llmbench.Request{Schema: json.RawMessage(`{`)}, llmbench.Answer{Text: "{}"}, "not a JSON schema that can be used"},
	} {
		err := Conforms(c.r, c.a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Conforms(%+v) = %v, want %q", c.a, err, c.want)
		}
		if errors.Is(err, ErrSchema) != strings.HasPrefix(c.want, "not a JSON schema") {
			t.Errorf("Conforms(%+v) = %v: is it about the schema?", c.a, err)
		}
	}
}

// FuzzConforms: whatever a server answers, it is judged, and what is taken for good
// is JSON.
func FuzzConforms(f *testing.F) {
	f.Add("f", `{"n": 1}`, `{"n": 1}`)
	f.Add("f f", `{}{`, `[`)
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	f.Fuzz(func(t *testing.T, names, calls, text string) {
		a := llmbench.Answer{ToolNames: names, ToolCalls: calls, Text: text}
		if Conforms(llmbench.Request{Schema: schema}, a) == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q conforms, and is not JSON", text)
		}
		if Conforms(llmbench.Request{Tools: []llmbench.Tool{{Name: "f", Parameters: schema}}}, a) == nil && !strings.Contains(names, "f") {
			t.Errorf("calls of %q conform", names)
		}
	})
}
