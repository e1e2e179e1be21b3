package clients

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A reply is what a client has read from an answer.
type reply struct {
	Text, Reasoning string
	Tool            string // the name of the called function
	Arguments       string // the arguments of the call, in JSON
	Finish          string
	Prompt, Output  int // numbers of tokens, as the server counts them
}

// A request is a function that sends a request to a mock. The prompt has three tokens. tokens is the number
// of output tokens.
type request func(t *testing.T, m mock, tokens int, stream bool) (reply, error)

// words returns the tokens of the whole answer.
func (s reply) words(t *testing.T) []string {
	t.Helper()
	var call struct{ Text string }
	if s.Arguments != "" {
		assert.NilError(t, json.Unmarshal([]byte(s.Arguments), &call))
	}
	return strings.Fields(s.Text + s.Reasoning + call.Text)
}

// everyShape reads an answer in each shape, with and without streaming. All answers must have the
// same text. broken lists the shapes that the client cannot read. Its values are a part of the
// client's error, or "silent" if the client returns no error.
func everyShape(t *testing.T, broken map[string]string, ask request) {
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
			got.Arguments, whole.Arguments = compact(got.Arguments), compact(whole.Arguments) // a stream may have spaces
			got.Prompt, got.Output, whole.Prompt, whole.Output = 0, 0, 0, 0                   // a stream need not report them
			if broken[name] == "silent" {
				assert.Assert(t, got != whole || len(got.words(t)) != tokens, "reply all of %+v", got)
				return
			}
			assert.DeepEqual(t, got, whole)
			assert.Equal(t, len(got.words(t)), tokens, "%+v", got)
		})
	}
}

// unquoted returns a JSON string without quotes and escapes.
func unquoted(raw string) string {
	var s string
	json.Unmarshal([]byte(raw), &s) // s stays empty for other values
	return s
}

// compact returns JSON text without spaces between its tokens. It returns other text as it is.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}
