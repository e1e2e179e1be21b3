package mockserver

import (
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// maxBody is the largest request body that the server reads, in bytes.
const maxBody = 64 << 20

// writeError sends an error with a body in OpenAI's format.
func writeError(w http.ResponseWriter, e *wire.Error) {
	writeJSON(w, e.Status, []byte(wire.OpenAIError(e)))
}

// writeJSON sends a JSON body. It ignores write errors: they mean that the client has gone.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
