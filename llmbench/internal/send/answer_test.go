package send

import (
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"gotest.tools/v3/assert"
)

// TestNewAnswer checks how names and arguments of tool calls are put together.
func TestNewAnswer(t *testing.T) {
	type call = check.ToolCall
	for _, test := range []struct {
		names, args string
		want        []call
	}{
		{"", "", nil},
		{"f", `{"a":1}`, []call{{Name: "f", Arguments: `{"a":1}`}}},
		{"f g", `{"a":1}{"b":"} {"}`, []call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: `{"b":"} {"}`}}},
		{"f g", `{"a":1}`, []call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g"}}},
		{"f", `{"a":1} {"b"`, []call{{Name: "f", Arguments: `{"a":1}`}, {Arguments: `{"b"`}}},
	} {
		got := newAnswer(&sample.Sample{Finish: "stop", Answer: &sample.Answer{Text: "t", Reasoning: "r", ToolNames: test.names, ToolCalls: test.args}})
		assert.DeepEqual(t, got, Answer{Text: "t", Reasoning: "r", Finish: "stop", ToolCalls: test.want})
	}
}
