package wire

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// An Error is an error that the server sends as its answer. Each dialect has its own format
// for the body.
type Error struct {
	Status  int    // the HTTP status
	kind    string // the type, as in OpenAI's API
	param   string // the field that is wrong, empty for none
	message string
	// If a request does not fit into the context, prompt is the number of tokens in its
	// prompt and maxContext the largest number of tokens that prompt and output may have
	// together. Both are 0 for other errors.
	prompt, maxContext int
}

// StatusOverloaded is the HTTP status that Anthropic sends when its API is overloaded.
const StatusOverloaded = 529

// Injected is the error of a fault that has no specific error.
var Injected = NewError(http.StatusInternalServerError, "InternalServerError", "", "mockserver: injected fault")

// BadRequest returns an error with status 400. param is the field that is wrong,
// empty for none.
func BadRequest(param, format string, args ...any) *Error {
	return NewError(http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...))
}

// NewError returns an error. kind is the error's type, as in OpenAI's API. param is the field
// that is wrong, empty for none.
func NewError(status int, kind, param, message string) *Error {
	return &Error{Status: status, kind: kind, param: param, message: message}
}

// TooLong returns the error of a request that does not fit into the context. prompt, output
// and maxContext are numbers of tokens. The message is vLLM's.
func TooLong(prompt, output, maxContext int) *Error {
	e := BadRequest("input_tokens", "This model's maximum context length is %d tokens. However, you requested "+
		"%d output tokens and your prompt contains %d input tokens, for a total of %d tokens. Please reduce the length of "+
		"the input prompt or the number of requested output tokens.", maxContext, output, prompt, prompt+output)
	e.prompt, e.maxContext = prompt, maxContext
	return e
}

// QueueFull returns the error of a request that arrives when the queue is full. status is 429
// or 503. maxQueue is the maximum length of the queue.
func QueueFull(status, maxQueue int) *Error {
	if status == http.StatusTooManyRequests {
		return NewError(status, "RateLimitError", "", "Rate limit reached, please try again in 1s.")
	}
	return NewError(status, "ServiceUnavailableError", "", fmt.Sprintf("Maximum number of queued requests (%d) reached.", maxQueue))
}

// BadBody returns the error of a request whose body json.Unmarshal rejects with err.
func BadBody(err error) *Error {
	param := ""
	if t, ok := err.(*json.UnmarshalTypeError); ok {
		param = t.Field
	}
	return BadRequest(param, "body: %v", err)
}

// OpenAIError returns the body {"error":{...}}, which most servers send on OpenAI's paths.
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

// topError returns OpenAI's error object without the enclosing "error", as SGLang and LMDeploy
// send it.
func topError(e *Error) string {
	return `{"object":"error","message":` + jsontext.Quote(e.message) + `,"type":` + jsontext.Quote(e.kind) +
		`,"param":` + string(jsontext.Marshal(e.paramOrNil())) + fmt.Sprintf(`,"code":%d}`, e.Status)
}

// PlainError returns the body {"error":"..."}.
func PlainError(e *Error) string { return `{"error":` + jsontext.Quote(e.message) + `}` }

// paramOrNil returns a pointer to param, or nil (null in JSON) if param is empty.
func (e *Error) paramOrNil() *string {
	if e.param == "" {
		return nil
	}
	return &e.param
}
