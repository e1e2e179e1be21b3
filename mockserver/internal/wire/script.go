package wire

import (
	"encoding/json"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A script is an output in a format that the request asks for, the arguments of a
// tool call or an instance of a schema, or an answer. Each word, with the space before it, is one
// token.
type script struct {
	call string   // the name of the called function, empty for none
	text string   // the JSON
	json []string // the tokens as parts of a JSON string
}

// newScript returns an instance of the schema or, without a schema, an object with
// one string. The error names the field.
func newScript(field, call string, schema json.RawMessage) (*script, *Error) {
	if absent(schema) {
		schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	}
	text, err := vocab.Instance(schema)
	if err != nil {
		return nil, BadRequest(field, "%s: unsupported schema: %v", field, err)
	}
	return textScript(call, text), nil
}

// textScript returns a script of a text.
func textScript(call, text string) *script {
	s := &script{call: call, text: text}
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			word = " " + word
		}
		s.json = append(s.json, jsontext.Inner(word))
	}
	return s
}

// tokens returns the number of tokens in the output of a chat: the tokens of the
// reasoning before the script, and of the script.
func (s *script) tokens(sh shape.Shape) int {
	n := len(s.json)
	switch {
	case sh.Reasoning == "":
		return n
	case sh.ReasoningTokens == 0: // half of the output is reasoning
		return 2 * n
	}
	return n + sh.ReasoningTokens
}
