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
}

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...)}
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
