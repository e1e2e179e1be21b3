package vocab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// A schema is the part of JSON Schema that Instance supports.
// https://json-schema.org/draft/2020-12
type schema struct {
	Type       json.RawMessage            `json:"type"` // a string or an array of strings
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	MinItems   int                        `json:"minItems"`
	MaxItems   *int                       `json:"maxItems"`
	Enum       []json.RawMessage          `json:"enum"`
	Const      json.RawMessage            `json:"const"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	Minimum    json.Number                `json:"minimum"`
	Maximum    json.Number                `json:"maximum"`
	MaxLength  *int                       `json:"maxLength"`
}

// supported has the keywords that a schema may contain: the fields of the type schema, and
// keywords that every instance satisfies.
var supported = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "$schema": true, "$id": true, "$comment": true,
	"additionalProperties": true, "strict": true,
	"type": true, "properties": true, "required": true, "items": true, "minItems": true, "maxItems": true, "enum": true, "const": true,
	"anyOf": true, "oneOf": true, "minimum": true, "maximum": true, "maxLength": true,
}

const (
	maxDepth      = 32
	maxBytes      = 1 << 20 // approximate largest size of an instance
	wordsInString = 4
)

// A writer writes an instance of a schema.
type writer struct {
	b    strings.Builder
	word int // index of the next word of the vocabulary
}

// Instance returns JSON that conforms to a schema, on one line, with a space after each comma
// and colon. The same schema always gives the same JSON. An object has all properties in the
// schema. An array has two items, if the schema allows that. A string has four words. A
// number is the minimum, or the maximum if there is no minimum, or 7 if there is neither. Of
// several choices Instance takes the first. The error names the unsupported keyword or type.
func Instance(text json.RawMessage) (string, error) {
	var w writer
	if err := w.value(text, 0); err != nil {
		return "", err
	}
	return w.b.String(), nil
}

func (w *writer) value(text json.RawMessage, depth int) error {
	if depth > maxDepth || w.b.Len() > maxBytes {
		return fmt.Errorf("deeper than %d levels, or an instance of more than %d bytes", maxDepth, maxBytes)
	}
	if string(text) == "true" {
		text = json.RawMessage("{}")
	}
	var all map[string]json.RawMessage
	var s schema
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(text, &s)); err != nil || all == nil {
		return fmt.Errorf("%.60q is not a JSON Schema object", text)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !supported[name] {
			return fmt.Errorf("keyword %.60q is not supported", name)
		}
	}
	for _, choice := range [][]json.RawMessage{s.AnyOf, s.OneOf} {
		if len(choice) > 0 {
			return w.value(choice[0], depth+1)
		}
	}
	switch {
	case s.Const != nil:
		return w.literal(s.Const)
	case len(s.Enum) > 0:
		return w.literal(s.Enum[0])
	}
	switch kind := s.kind(); kind {
	case "object":
		return w.object(&s, depth)
	case "array":
		return w.array(&s, depth)
	case "string":
		w.string(s.MaxLength)
	case "integer", "number":
		w.b.WriteString(cmp.Or(s.Minimum, s.Maximum, "7").String())
	case "boolean":
		w.b.WriteString("true")
	case "null":
		w.b.WriteString("null")
	default:
		return fmt.Errorf("type %.60q is not supported", kind)
	}
	return nil
}

// kind returns the schema's type, or the first type if there are several. A schema without
// a type is an array if it has the keyword items, and an object otherwise.
func (s *schema) kind() string {
	var one string
	var several []string
	switch {
	case json.Unmarshal(s.Type, &one) == nil:
		return one
	case json.Unmarshal(s.Type, &several) == nil && len(several) > 0:
		return several[0]
	case s.Type != nil:
		return string(s.Type)
	case s.Items != nil:
		return "array"
	}
	return "object"
}

// literal writes a value that the schema gives.
func (w *writer) literal(v json.RawMessage) error {
	var value any
	if err := json.Unmarshal(v, &value); err != nil {
		return err
	}
	w.b.Write(jsontext.Marshal(value))
	return nil
}

func (w *writer) object(s *schema, depth int) error {
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("required %.60q: no such property", name)
		}
	}
	w.b.WriteString("{")
	for n, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if n > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(jsontext.Quote(name) + ": ")
		if err := w.value(s.Properties[name], depth+1); err != nil {
			return err
		}
	}
	w.b.WriteString("}")
	return nil
}

func (w *writer) array(s *schema, depth int) error {
	n := max(2, s.MinItems)
	if s.MaxItems != nil {
		n = max(s.MinItems, min(n, *s.MaxItems))
	}
	items := s.Items
	if items == nil {
		items = json.RawMessage(`{"type":"string"}`)
	}
	w.b.WriteString("[")
	for k := range n {
		if k > 0 {
			w.b.WriteString(", ")
		}
		if err := w.value(items, depth+1); err != nil {
			return err
		}
	}
	w.b.WriteString("]")
	return nil
}

func (w *writer) string(most *int) {
	var words strings.Builder
	for range wordsInString {
		words.WriteString(vocabulary[w.word%len(vocabulary)])
		w.word++
	}
	text := words.String()[1:]
	if most != nil && *most < len(text) {
		text = strings.TrimSpace(text[:max(*most, 0)])
	}
	w.b.WriteString(jsontext.Quote(text))
}
