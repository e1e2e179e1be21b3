package clients

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// What a client got out of an answer.
type said struct {
	Text, Reasoning string
	Tool            string // the function called
	Arguments       string // of the call, in JSON
	Finish          string
	Prompt, Output  int // tokens, by the server's count
}

// asking asks a mock for so many tokens after three of prompt.
type asking func(t *testing.T, m mock, tokens int, stream bool) (said, error)

// words returns the tokens of all that was said.
func (s said) words(t *testing.T) []string {
	t.Helper()
	var call struct{ Text string }
	if s.Arguments != "" {
		assert.NilError(t, json.Unmarshal([]byte(s.Arguments), &call))
	}
	return strings.Fields(s.Text + s.Reasoning + call.Text)
}

// everyShape reads an answer of each shape, streamed and not: what was said must
// be the same, and all of it. What a client cannot read is in broken, with the
// error it gives or, if it gives none, the word "silent".
func everyShape(t *testing.T, broken map[string]string, ask asking) {
	const tokens = 12
	for name := range shape.Names() {
		t.Run(name, func(t *testing.T) {
			list := strings.NewReplacer("=N", "=3", "=DURATION", "=1ms").Replace(name)
			m := serve(t, mockserver.Config{Shape: shaped(t, list)})
			got, err := ask(t, m, tokens, true)
			if want, ok := broken[name]; ok && want != "silent" {
				assert.ErrorContains(t, err, want)
				return
			}
			assert.NilError(t, err)
			whole, err := ask(t, m, tokens, false)
			assert.NilError(t, err)
			got.Prompt, got.Output, whole.Prompt, whole.Output = 0, 0, 0, 0 // which a stream need not tell
			if broken[name] == "silent" {
				assert.Assert(t, got != whole || len(got.words(t)) != tokens, "said all of %+v", got)
				return
			}
			assert.DeepEqual(t, got, whole)
			assert.Equal(t, len(got.words(t)), tokens, "%+v", got)
		})
	}
}

// unquoted returns the string that a JSON value is.
func unquoted(raw string) string {
	var s string
	json.Unmarshal([]byte(raw), &s) // anything else is no text
	return s
}
