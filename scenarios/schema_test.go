package scenarios

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSchemaTypes checks that each part of the schemas that requests contain has a type, because
// some servers refuse an enum without a type.
func TestSchemaTypes(t *testing.T) {
	type schema struct {
		Type       string
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	var check func(text json.RawMessage)
	check = func(text json.RawMessage) {
		var s schema
		assert.NilError(t, json.Unmarshal(text, &s), "%s", text)
		assert.Assert(t, s.Type != "", "%s", text)
		for _, property := range s.Properties {
			check(property)
		}
		if s.Items != nil {
			check(s.Items)
		}
	}
	check(weather.Parameters)
	check(ticket)
}
