package benchdata

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	invalidity "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Conforms returns an error if the answer a does not conform to the schemas of r. If
// r has tools, the answer must call at least one of them, and the arguments of each
// call must be JSON that conforms to the tool's parameters. If r has a schema, the text
// of the answer must be JSON that conforms to the schema. The version of JSON Schema is
// 2020-12 (https://json-schema.org/draft/2020-12), unless the schema's $schema names
// another version. Conforms fetches no schemas.
//
// An error that wraps [ErrSchema] means that a schema of r is invalid.
func Conforms(r llmbench.Request, a sample.Answer) error {
	if len(r.Tools) > 0 {
		return callsConform(r.Tools, a)
	}
	return conforms("the text", r.Schema, a.Text)
}

// ErrSchema is the error of [Conforms] for an invalid schema, or for a schema that refers to
// another document.
var ErrSchema = errors.New("invalid JSON schema")

// callsConform checks the calls of an answer against the tools of its request.
func callsConform(tools []llmbench.Tool, a sample.Answer) error {
	calls := a.ToolCalls
	if len(calls) == 0 {
		return fmt.Errorf("the answer calls no tool; its text is %.60q", a.Text)
	}
	same := func(c sample.ToolCall) bool { return c.Name == calls[0].Name && c.Arguments == "" }
	if calls[0].Arguments != "" && !slices.ContainsFunc(calls[1:], func(c sample.ToolCall) bool { return !same(c) }) {
		calls = calls[:1] // some servers send the function's name again with every piece of the arguments
	}
	for _, c := range calls {
		if c.Name == "" || c.Arguments == "" {
			return fmt.Errorf("the answer calls the function %.60q with the arguments %.60q; neither may be empty", c.Name, c.Arguments)
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

// conforms returns an error if text is not JSON that conforms to schema. what is the name of
// the text in the error.
func conforms(what string, schema json.RawMessage, text string) error {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err == nil {
		err = c.AddResource(schemaURL, document)
	}
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
			sortCauses(invalid.Err)
		}
		return fmt.Errorf("%w: %s: %.100q", ErrSchema, oneLine(err), schema)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s is not JSON: %v: %.100q", what, err, text)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("%s does not conform to the schema: %s", what, reasons(err))
	}
	return nil
}

// schemaURL is the address under which a schema is compiled, because the compiler wants one. Errors do not show it.
const schemaURL = "https://schema.invalid/"

// reasons returns why a value does not conform to a schema, in one line.
func reasons(err error) string {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return oneLine(err)
	}
	sortCauses(invalid)
	var all []string
	for _, cause := range invalid.Causes { // the error itself names only the schema
		all = append(all, oneLine(cause))
	}
	return strings.Join(all, "; ")
}

// sortCauses sorts the causes of an error, because package jsonschema finds them in the order of a map: first by
// their places in the value, then by their texts. It sorts the names of properties that are not allowed, too.
func sortCauses(err error) {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return
	}
	if more, ok := invalid.ErrorKind.(*invalidity.AdditionalProperties); ok {
		slices.Sort(more.Properties)
	}
	for _, cause := range invalid.Causes {
		sortCauses(cause)
	}
	slices.SortFunc(invalid.Causes, func(a, b *jsonschema.ValidationError) int {
		if c := slices.Compare(a.InstanceLocation, b.InstanceLocation); c != 0 {
			return c
		}
		return strings.Compare(a.Error(), b.Error())
	})
}

// oneLine returns the text of an error in one line, without schemaURL.
func oneLine(err error) string {
	lines := strings.Split(strings.ReplaceAll(err.Error(), schemaURL, ""), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), "- ")
	}
	return strings.Join(lines, "; ")
}
