package vocab

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInstance(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{}`, `{}`},
		{`true`, `{}`},
		{`{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"string","description":"x"}},"required":["a"],"additionalProperties":false}`,
			`{"a": "the quick brown fox", "b": 7}`},
		{`{"properties":{"x":{"type":"string"},"y":{"type":"string","maxLength":9}}}`, `{"x": "the quick brown fox", "y": "jumps ove"}`},
		{`{"type":"array","items":{"type":"boolean"}}`, `[true, true]`},
		{`{"items":{"enum":["a b",1]},"minItems":3}`, `["a b", "a b", "a b"]`},
		{`{"type":"array","maxItems":1}`, `["the quick brown fox"]`},
		{`{"type":"array","maxItems":0}`, `[]`},
		{`{"type":["null","string"]}`, `null`},
		{`{"const":{"a":1}}`, `{"a":1}`},
		{`{"anyOf":[{"type":"number","minimum":2.5},{"type":"null"}]}`, `2.5`},
		{`{"oneOf":[{"type":"integer","maximum":3}]}`, `3`},
	} {
		got, err := Instance(json.RawMessage(tt.schema))
		if err != nil || got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("Instance(%s) = %s, %v, want %s", tt.schema, got, err, tt.want)
		}
	}
	deep := strings.Repeat(`{"items":`, 40) + "{}" + strings.Repeat("}", 40)
	for schema, want := range map[string]string{
		`7`:                  `"7" is not a JSON Schema object`,
		`null`:               `"null" is not a JSON Schema object`,
		`{"pattern":"a"}`:    `keyword "pattern" is not supported`,
		`{"type":"date"}`:    `type "date" is not supported`,
		`{"type":7}`:         `type "7" is not supported`,
		`{"required":["a"]}`: `required "a": no such property`,
		`{"minItems":"a"}`:   "is not a JSON Schema object",
		deep:                 "deeper than 32",
		`{"items":{"type":"string"},"minItems":1000000}`: "an instance of more than 1048576 bytes",
	} {
		if got, err := Instance(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Instance(%s) = %.80s, %v, want an error with %q", schema, got, err, want)
		}
	}
}

// FuzzInstance checks that the instance of any schema is JSON, is the same each time, and is not
// much longer than the limit.
func FuzzInstance(f *testing.F) {
	for _, s := range []string{`true`, `{"type":"object","properties":{"b":{"type":"integer","maximum":-1e400},"a":{"enum":[" "]}}}`, `{"items":{"items":{"const":"x y"}},"minItems":9}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		text, err := Instance(schema)
		if err != nil {
			return
		}
		again, _ := Instance(schema)
		if !json.Valid([]byte(text)) || again != text || len(text) > maxBytes+len(schema)+1000 {
			t.Fatalf("Instance(%q) is %d bytes, %.100q, and then %.100q; want JSON", schema, len(text), text, again)
		}
	})
}
