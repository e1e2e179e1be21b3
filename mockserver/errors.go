package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// An apiError is an answer that says what was wrong with the request.
type apiError struct {
	status  int
	kind    string
	param   string // the field at fault, if it was one
	message string
}

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...)}
}

// body returns the error as OpenAI's servers write it: {"error":{...}}.
func (e *apiError) body() []byte {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	o := object{Message: e.message, Type: e.kind, Code: e.status}
	if e.param != "" {
		o.Param = &e.param
	}
	b, err := json.Marshal(map[string]object{"error": o})
	if err != nil {
		panic(err) // strings and an int: cannot happen
	}
	return b
}

// write sends the error. A client that is gone is nobody's trouble.
func (e *apiError) write(w http.ResponseWriter) { writeJSON(w, e.status, e.body()) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
