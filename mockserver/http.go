package mockserver

import (
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// maxBody is the largest request body that the server reads, in bytes.
const maxBody = 64 << 20

// writeError sends an error with the body that OpenAI's servers give it.
func writeError(w http.ResponseWriter, e *wire.Error) {
	writeJSON(w, e.Status, []byte(wire.OpenAIError(e)))
}

// writeJSON sends a JSON body. Errors of the connection are ignored: the client is
// gone.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
