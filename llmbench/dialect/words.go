package dialect

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

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

// faultStatus returns the HTTP status that v states for itself: v is the value of a member "error", or a document
// that is itself an error. It returns 0 if v states none.
func faultStatus(v []byte) int {
	var object struct {
		Code, Status   json.RawMessage // vLLM, SGLang, llama.cpp, OpenRouter, Google: code; RFC 9457: status
		StatusCode     json.RawMessage `json:"status_code"`
		HTTPStatusCode json.RawMessage `json:"http_status_code"`
		HTTPCode       json.RawMessage `json:"http_code"` // MiniMax, as digits
	}
	if json.Unmarshal(v, &object) != nil {
		return 0
	}
	return cmp.Or(statusOf(object.Code), statusOf(object.StatusCode), statusOf(object.Status), statusOf(object.HTTPStatusCode), statusOf(object.HTTPCode))
}

// statusOf returns v, a number or a string of digits, if it is the HTTP status of an error. Otherwise it returns 0.
func statusOf(v []byte) int {
	if isWord(v) {
		v = v[1 : len(v)-1]
	}
	if n, err := strconv.Atoi(string(v)); err == nil && n >= 400 && n <= 599 {
		return n
	}
	return 0
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
