package send

import (
	"encoding/json"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Answer is what a server generated for one request.
type Answer = check.Answer

// toolCalls combines names, which are separated by spaces, with arguments, which are JSON values one after
// the other. Text after the last valid JSON value counts as one more value, and so does all text after the first
// maxCalls values, if there are not more names.
func toolCalls(names, arguments string) (calls []sample.ToolCall) {
	for name := range strings.FieldsSeq(names) {
		calls = append(calls, sample.ToolCall{Name: name})
	}
	if strings.TrimSpace(arguments) == "" {
		return calls
	}
	decoder := json.NewDecoder(strings.NewReader(arguments))
	most := max(len(calls), maxCalls)
	for i, from, to := 0, 0, 0; from < len(arguments); i, from = i+1, to {
		var value json.RawMessage
		if err := decoder.Decode(&value); err == nil {
			to = int(decoder.InputOffset())
		}
		if to == from || i == most-1 || strings.TrimSpace(arguments[to:]) == "" {
			to = len(arguments)
		}
		if i == len(calls) {
			calls = append(calls, sample.ToolCall{})
		}
		calls[i].Arguments = arguments[from:to]
	}
	return calls
}
