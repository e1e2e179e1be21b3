package dialect

import (
	"encoding/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Cut is the last character of an excerpt from a server's message if the message was shortened. The harness
// looks for this character, because the cut may have left a part of a credential, which it must hide.
const Cut = redact.Cut

// excerpt returns the beginning of a server's message, short enough for an error. If the message is a
// quoted JSON string, excerpt unquotes it.
func excerpt(text []byte) string {
	const most = 200
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = jsonwalk.Unquote(nil, text)
	}
	return redact.Excerpt(string(text[:min(len(text), most+1)]), most)
}

// faultMessage returns the message in v, the value of a member "error": the member "message" if v is an
// object that has one, and otherwise v itself. It returns "" for null, false, 0 and "".
func faultMessage(v []byte) string {
	switch string(v) {
	case "null", "false", "0", `""`:
		return ""
	}
	var object struct{ Message string }
	if json.Unmarshal(v, &object) == nil && object.Message != "" {
		return excerpt([]byte(object.Message))
	}
	return excerpt(v)
}

// isWord reports whether v is a JSON string that is not empty.
func isWord(v []byte) bool { return len(v) > 2 && v[0] == '"' }

// word unquotes a JSON string. It does not allocate for the finish reasons and
// statuses that servers usually send.
func word(quoted []byte) string {
	for _, usual := range [...]string{
		`"stop"`, `"length"`, `"limit"`, `"eos"`, `"tool_calls"`, `"eos_token"`, `"stop_sequence"`,
		`"in_progress"`, `"completed"`, `"queued"`, `"end_turn"`, `"max_tokens"`, `"tool_use"`,
		`"STOP"`, `"MAX_TOKENS"`, `"COMPLETE"`,
	} {
		if string(quoted) == usual {
			return usual[1 : len(usual)-1]
		}
	}
	return string(jsonwalk.Unquote(nil, quoted))
}
