// Package jsontext writes pieces of JSON for bodies that the mock server assembles itself.
package jsontext

import (
	"bytes"
	"encoding/json"
)

// Marshal returns v as JSON without HTML escapes. It panics if v cannot be marshaled.
func Marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Quote returns s as a JSON string.
func Quote(s string) string { return string(Marshal(s)) }

// Inner returns s as a JSON string without its quotes.
func Inner(s string) string {
	q := Quote(s)
	return q[1 : len(q)-1]
}
