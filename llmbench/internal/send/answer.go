package send

import (
	"encoding/json"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// An Answer is what a server generated for one request.
type Answer = check.Answer

// newAnswer returns the answer of a sample that has one.
func newAnswer(s *sample.Sample) Answer {
	kept := s.Answer
	a := Answer{Text: kept.Text, Reasoning: kept.Reasoning, Finish: s.Finish}
	names, args := strings.Fields(kept.ToolNames), splitValues(kept.ToolCalls)
	for i := range max(len(names), len(args)) {
		var call check.ToolCall
		if i < len(names) {
			call.Name = names[i]
		}
		if i < len(args) {
			call.Arguments = args[i]
		}
		a.ToolCalls = append(a.ToolCalls, call)
	}
	return a
}

// splitValues divides JSON values that stand one after the other. What follows the last value that is
// valid is one more.
func splitValues(text string) (values []string) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		at := decoder.InputOffset()
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			if rest := strings.TrimSpace(text[at:]); rest != "" {
				values = append(values, rest)
			}
			return values
		}
		values = append(values, string(value))
	}
}
