package benchdata

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Conforms returns an error if the answer a does not conform to the schemas of r. If
// r has tools, the answer must call at least one of them, and the arguments of each
// call must be JSON that conforms to the parameters of the tool. If r has a schema,
// the text of the answer must be JSON that conforms to the schema. The version of
// JSON Schema is 2020-12 (https://json-schema.org/draft/2020-12) unless the schema
// has another in $schema. Conforms fetches no schemas.
//
// An error that wraps [ErrSchema] means that a schema of r is invalid.
func Conforms(r llmbench.Request, a sample.Answer) error {
	if len(r.Tools) > 0 {
		return callsConform(r.Tools, a)
	}
	return conforms("the text", r.Schema, a.Text)
}

// ErrSchema is the error of [Conforms] for a schema that is invalid, or that refers to
// a schema elsewhere.
var ErrSchema = errors.New("invalid JSON schema")

// callsConform checks the calls of an answer against the tools of its request.
func callsConform(tools []llmbench.Tool, a sample.Answer) error {
	calls := a.ToolCalls
	if len(calls) == 0 {
		return fmt.Errorf("the answer calls no tool; its text is %.60q", a.Text)
	}
	same := func(c sample.ToolCall) bool { return c.Name == calls[0].Name && c.Arguments == "" }
	if calls[0].Arguments != "" && !slices.ContainsFunc(calls[1:], func(c sample.ToolCall) bool { return !same(c) }) {
		calls = calls[:1] // some servers repeat the name with every piece of the arguments
	}
	for _, c := range calls {
		if c.Name == "" || c.Arguments == "" {
			return fmt.Errorf("a call of the function %.60q with the arguments %.60q: must have a name and arguments", c.Name, c.Arguments)
		}
		at := slices.IndexFunc(tools, func(t llmbench.Tool) bool { return t.Name == c.Name })
		if at < 0 {
			return fmt.Errorf("the answer calls %.60q, which is not a tool of the request", c.Name)
		}
		if err := conforms("the call of "+c.Name, tools[at].Parameters, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// conforms returns an error if text is not JSON that conforms to schema. The error
// calls the text what.
func conforms(what string, schema json.RawMessage, text string) error {
	const name = "schema.json"
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err == nil {
		err = c.AddResource(name, document)
	}
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(name)
	}
	if err != nil {
		return fmt.Errorf("%w: %v: %.100q", ErrSchema, err, schema)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s is not JSON: %v: %.100q", what, err, text)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("%s does not conform: %v", what, err)
	}
	return nil
}
