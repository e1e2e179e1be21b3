package send

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestToolCalls checks how names and arguments of tool calls are combined, and that none of them is lost.
func TestToolCalls(t *testing.T) {
	type call = sample.ToolCall
	for _, test := range []struct {
		names, args string
		want        []call
	}{
		{"", "", nil},
		{"", " ", nil},
		{"f", `{"a":1}`, []call{{Name: "f", Arguments: `{"a":1}`}}},
		{"f", ` {"a":1}` + "\n", []call{{Name: "f", Arguments: ` {"a":1}` + "\n"}}},
		{"f g", `{"a":1}{"b":"} {"}`, []call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: `{"b":"} {"}`}}},
		{"f g", `{"a":1}`, []call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g"}}},
		{"f", `{"a":1} {"b"`, []call{{Name: "f", Arguments: `{"a":1}`}, {Arguments: ` {"b"`}}},
	} {
		a := sample.Answer{ToolCalls: toolCalls(test.names, test.args)}
		assert.DeepEqual(t, a.ToolCalls, test.want)
		assert.Equal(t, a.ToolNames(), test.names)
		if len(test.want) > 0 {
			assert.Equal(t, a.Arguments(), test.args)
		}
	}
}
