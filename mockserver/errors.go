package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// An apiError is an answer that says what was wrong with the request.
type apiError struct {
	status  int
	kind    string // as OpenAI's servers call it
	param   string // the field at fault, if it was one
	message string
	// Of a request that is too long: its prompt, and how long it may be with its
	// output, in tokens.
	prompt, most int
}

func badRequest(param, format string, args ...any) *apiError {
	return newError(http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...))
}

func newError(status int, kind, param, message string) *apiError {
	return &apiError{status: status, kind: kind, param: param, message: message}
}

// tooLong is the error of a request that does not fit into the context, as vLLM
// says it.
func tooLong(prompt, output, most int) *apiError {
	e := badRequest("input_tokens", "This model's maximum context length is %d tokens. However, you requested "+
		"%d output tokens and your prompt contains %d input tokens, for a total of %d tokens. Please reduce the length of "+
		"the input prompt or the number of requested output tokens.", most, output, prompt, prompt+output)
	e.prompt, e.most = prompt, most
	return e
}

// queueFull is the error of a request that finds as many waiting as may.
func queueFull(status, most int) *apiError {
	if status == http.StatusTooManyRequests {
		return newError(status, "RateLimitError", "", "Rate limit reached, please try again in 1s.")
	}
	return newError(status, "ServiceUnavailableError", "", fmt.Sprintf("Maximum number of queued requests (%d) reached.", most))
}

// badBody is the error of a body that is not the JSON it should be.
func badBody(err error) *apiError {
	param := ""
	if t, ok := err.(*json.UnmarshalTypeError); ok {
		param = t.Field
	}
	return badRequest(param, "body: %v", err)
}

// openaiError is {"error":{...}}, as most servers have it on OpenAI's paths.
func openaiError(e *apiError) string {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	switch e.kind {
	case "AuthenticationError": // as vLLM
		return `{"error":"Unauthorized"}`
	case "UnprocessableEntityError": // as any server built on FastAPI
		return `{"detail":[{"type":"missing","loc":["body","messages"],"msg":` + quoted(e.message) + `,"input":{}}]}`
	}
	return string(marshal(map[string]object{"error": {e.message, e.kind, e.paramOrNil(), e.status}}))
}

// topError is the same object without the "error" around it, as SGLang and
// LMDeploy have it.
func topError(e *apiError) string {
	return `{"object":"error","message":` + quoted(e.message) + `,"type":` + quoted(e.kind) +
		`,"param":` + string(marshal(e.paramOrNil())) + fmt.Sprintf(`,"code":%d}`, e.status)
}

// plainError is {"error":"..."}.
func plainError(e *apiError) string { return `{"error":` + quoted(e.message) + `}` }

func (e *apiError) paramOrNil() *string {
	if e.param == "" {
		return nil
	}
	return &e.param
}

// write sends the error. A client that is gone is nobody's trouble.
func (e *apiError) write(w http.ResponseWriter) { writeJSON(w, e.status, []byte(openaiError(e))) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// marshal is json.Marshal of what can be marshaled, without escapes for HTML.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings and numbers: cannot happen
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
