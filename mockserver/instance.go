package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A schema is the part of JSON schema (https://json-schema.org/draft/2020-12) that
// an instance can be written for.
type schema struct {
	Type       json.RawMessage            `json:"type"` // a name or several
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

// What else a schema may say: nothing that the instances below do not keep anyway.
var harmless = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "$schema": true, "$id": true, "$comment": true,
	"additionalProperties": true, "strict": true,
	"type": true, "properties": true, "required": true, "items": true, "minItems": true, "maxItems": true, "enum": true, "const": true,
	"anyOf": true, "oneOf": true, "minimum": true, "maximum": true, "maxLength": true,
}

// Limits of a schema that a server answers to.
const (
	deepest   = 32
	mostBytes = 1 << 20 // of an instance
)

// wordsInString is how long strings are.
const wordsInString = 4

// An instancer writes an instance of a schema, always the same one.
type instancer struct {
	b    strings.Builder
	word int // the next of the vocabulary
}

// instance returns JSON that conforms to the schema, with a space after each comma
// and colon: every property that is named, two items of an array, four words of a
// string, the least or else the most that a number may be or else 7, the first of what can be chosen.
func instance(text json.RawMessage) (string, error) {
	var i instancer
	if err := i.value(text, 0); err != nil {
		return "", err
	}
	return i.b.String(), nil
}

func (i *instancer) value(text json.RawMessage, depth int) error {
	if depth > deepest || i.b.Len() > mostBytes {
		return fmt.Errorf("deeper than %d, or an instance of more than %d bytes", deepest, mostBytes)
	}
	if string(text) == "true" {
		text = json.RawMessage("{}")
	}
	var all map[string]json.RawMessage
	var s schema
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(text, &s)); err != nil || all == nil {
		return fmt.Errorf("%.60q is no object of JSON schema's", text)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !harmless[name] {
			return fmt.Errorf("%.60q: not known here", name)
		}
	}
	for _, choice := range [][]json.RawMessage{s.AnyOf, s.OneOf} {
		if len(choice) > 0 {
			return i.value(choice[0], depth+1)
		}
	}
	switch {
	case s.Const != nil:
		return i.literal(s.Const)
	case len(s.Enum) > 0:
		return i.literal(s.Enum[0])
	}
	switch kind := s.kind(); kind {
	case "object":
		return i.object(&s, depth)
	case "array":
		return i.array(&s, depth)
	case "string":
		i.string(s.MaxLength)
	case "integer", "number":
		i.b.WriteString(cmp.Or(s.Minimum, s.Maximum, "7").String())
	case "boolean":
		i.b.WriteString("true")
	case "null":
		i.b.WriteString("null")
	default:
		return fmt.Errorf("type %.60q: not known here", kind)
	}
	return nil
}

// kind is the schema's type, or the first of several, or what its other members
// are about.
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

// literal writes a value on one line.
func (i *instancer) literal(v json.RawMessage) error {
	var value any
	if err := json.Unmarshal(v, &value); err != nil {
		return err
	}
	i.b.Write(marshal(value))
	return nil
}

func (i *instancer) object(s *schema, depth int) error {
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("required %.60q: no such property", name)
		}
	}
	i.b.WriteString("{")
	for n, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if n > 0 {
			i.b.WriteString(", ")
		}
		i.b.WriteString(quoted(name) + ": ")
		if err := i.value(s.Properties[name], depth+1); err != nil {
			return err
		}
	}
	i.b.WriteString("}")
	return nil
}

func (i *instancer) array(s *schema, depth int) error {
	n := max(2, s.MinItems)
	if s.MaxItems != nil {
		n = max(s.MinItems, min(n, *s.MaxItems))
	}
	items := s.Items
	if items == nil {
		items = json.RawMessage(`{"type":"string"}`)
	}
	i.b.WriteString("[")
	for k := range n {
		if k > 0 {
			i.b.WriteString(", ")
		}
		if err := i.value(items, depth+1); err != nil {
			return err
		}
	}
	i.b.WriteString("]")
	return nil
}

func (i *instancer) string(most *int) {
	var words strings.Builder
	for range wordsInString {
		words.WriteString(vocabulary[i.word%len(vocabulary)])
		i.word++
	}
	text := words.String()[1:]
	if most != nil && *most < len(text) {
		text = strings.TrimSpace(text[:max(*most, 0)])
	}
	i.b.WriteString(quoted(text))
}
