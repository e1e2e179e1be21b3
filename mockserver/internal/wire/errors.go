package wire

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// An Error is an answer that reports an error. Each dialect has a body of its own
// for it.
type Error struct {
	Status  int    // the HTTP status
	kind    string // the type, as in OpenAI's API
	param   string // the field that is wrong, empty for none
	message string
	// Of a request that does not fit into the context: the tokens of its prompt, and
	// how many tokens prompt and output may have. Both are 0 for other errors.
	prompt, maxContext int
}

// Injected is the error of a fault for which no other error is right.
var Injected = NewError(http.StatusInternalServerError, "InternalServerError", "", "mockserver: injected fault")

// BadRequest returns an error with status 400. param is the field that is wrong,
// empty for none.
func BadRequest(param, format string, args ...any) *Error {
	return NewError(http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...))
}

// NewError returns an error. kind is its type as in OpenAI's API, param the field
// that is wrong, empty for none.
func NewError(status int, kind, param, message string) *Error {
	return &Error{Status: status, kind: kind, param: param, message: message}
}

// TooLong returns the error of a request whose prompt and output, in tokens, do not
// fit into the context. The message is vLLM's.
func TooLong(prompt, output, maxContext int) *Error {
	e := BadRequest("input_tokens", "This model's maximum context length is %d tokens. However, you requested "+
		"%d output tokens and your prompt contains %d input tokens, for a total of %d tokens. Please reduce the length of "+
		"the input prompt or the number of requested output tokens.", maxContext, output, prompt, prompt+output)
	e.prompt, e.maxContext = prompt, maxContext
	return e
}

// QueueFull returns the error, with status 429 or 503, of a request that finds the
// queue full. maxQueue is the length of the queue.
func QueueFull(status, maxQueue int) *Error {
	if status == http.StatusTooManyRequests {
		return NewError(status, "RateLimitError", "", "Rate limit reached, please try again in 1s.")
	}
	return NewError(status, "ServiceUnavailableError", "", fmt.Sprintf("Maximum number of queued requests (%d) reached.", maxQueue))
}

// BadBody returns the error of a body that json.Unmarshal refuses.
func BadBody(err error) *Error {
	param := ""
	if t, ok := err.(*json.UnmarshalTypeError); ok {
		param = t.Field
	}
	return BadRequest(param, "body: %v", err)
}

// OpenAIError returns {"error":{...}}, which most servers send on OpenAI's paths.
func OpenAIError(e *Error) string {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	switch e.kind {
	case "AuthenticationError": // as vLLM sends it
		return `{"error":"Unauthorized"}`
	case "UnprocessableEntityError": // as servers built on FastAPI send it
		return `{"detail":[{"type":"missing","loc":["body","messages"],"msg":` + jsontext.Quote(e.message) + `,"input":{}}]}`
	}
	return string(jsontext.Marshal(map[string]object{"error": {e.message, e.kind, e.paramOrNil(), e.Status}}))
}

// topError returns the members of OpenAI's error object at the top level, as SGLang
// and LMDeploy send them.
func topError(e *Error) string {
	return `{"object":"error","message":` + jsontext.Quote(e.message) + `,"type":` + jsontext.Quote(e.kind) +
		`,"param":` + string(jsontext.Marshal(e.paramOrNil())) + fmt.Sprintf(`,"code":%d}`, e.Status)
}

// PlainError returns {"error":"..."}.
func PlainError(e *Error) string { return `{"error":` + jsontext.Quote(e.message) + `}` }

// paramOrNil returns the param, or nil, which is null in JSON, if it is empty.
func (e *Error) paramOrNil() *string {
	if e.param == "" {
		return nil
	}
	return &e.param
}
