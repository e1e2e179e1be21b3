package wire

import (
	"encoding/json"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A script is a fixed output: the arguments of a tool call, an instance of a schema, or an
// answer from the oracle. Each word, with the space before it, is one token.
type script struct {
	call string   // the name of the called function, empty for none
	text string   // the whole output
	json []string // the tokens, each as a part of a JSON string
}

// newScript returns a script with an instance of the schema. Without a schema, the instance is
// an object with one string. call is the called function, if any. The error names the field.
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

// textScript returns a script with the given text.
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

// tokens returns the number of tokens in the output of a chat: the reasoning's tokens and the
// script's.
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
