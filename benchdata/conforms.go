package benchdata

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Conforms says what is wrong with the answer to r, nil for nothing. With tools it
// has to call one or more of them, each with arguments that are JSON and conform to
// that tool's parameters; with a schema its text has to be JSON that conforms to it
// (https://json-schema.org/draft/2020-12, or what $schema says). No schema is
// fetched from anywhere.
//
// An error that wraps [ErrSchema] is about the request, not the answer.
func Conforms(r llmbench.Request, a sample.Answer) error {
	if len(r.Tools) > 0 {
		return callsConform(r.Tools, a)
	}
	return conforms("the text", r.Schema, a.Text)
}

// ErrSchema is what errors of [Conforms] wrap when a schema cannot be used.
var ErrSchema = errors.New("not a JSON schema that can be used")

func callsConform(tools []llmbench.Tool, a sample.Answer) error {
	if a.ToolCalls == "" && a.ToolNames == "" {
		return fmt.Errorf("no call: %.60q", a.Text)
	}
	var calls []string
	for d := json.NewDecoder(strings.NewReader(a.ToolCalls)); ; {
		var arguments json.RawMessage
		err := d.Decode(&arguments)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("the arguments are not JSON: %v: %.60q", err, a.ToolCalls)
		}
		calls = append(calls, string(arguments))
	}
	names := strings.Fields(a.ToolNames)
	if len(calls) == 1 && len(names) > 1 && strings.Count(a.ToolNames, names[0]) == len(names) {
		names = names[:1] // some servers say it with every piece
	}
	if len(names) != len(calls) || len(calls) == 0 {
		return fmt.Errorf("%d names of functions (%.60q) for the arguments of %d", len(names), a.ToolNames, len(calls))
	}
next:
	for i, name := range names {
		for _, t := range tools {
			if t.Name == name {
				if err := conforms("the call of "+name, t.Parameters, calls[i]); err != nil {
					return err
				}
				continue next
			}
		}
		return fmt.Errorf("a call of %.60q, which was not offered", name)
	}
	return nil
}

// conforms says what is wrong with a text that should conform to a schema.
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
