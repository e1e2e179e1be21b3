package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// Ollama's clients use these endpoints in addition to completions.

// ollamaDigest is the digest of every model.
const ollamaDigest = "0000000000000000000000000000000000000000000000000000000000000000"

const ollamaDetails = `"details":{"parent_model":"","format":"gguf","family":"mock","families":["mock"],"parameter_size":"0B","quantization_level":"Q4_0"}`

func ollamaRunning(_ *Server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("Ollama is running"))
}

func ollamaVersion(_ *Server, w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, []byte(`{"version":"0.0.0-mock"}`))
}

func ollamaTags(s *Server, w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"models":[{"name":%s,"model":%[1]s,"modified_at":"%s","size":1,"digest":"%s",%s}]}`,
		s.model, s.epochText(), ollamaDigest, ollamaDetails))
}

func ollamaProcesses(s *Server, w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"models":[{"name":%s,"model":%[1]s,"size":1,"digest":"%s",%s,"expires_at":"%s","size_vram":1}]}`,
		s.model, ollamaDigest, ollamaDetails, s.epochText()))
}

// ollamaShow answers POST /api/show. It accepts any model name.
func ollamaShow(s *Server, w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model string `json:"model"`
		Name  string `json:"name"` // the field's former name
	}
	fail := wire.BadRequest("model", "model is required")
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		fail = wire.BadBody(err)
	} else if req.Model != "" || req.Name != "" {
		writeJSON(w, http.StatusOK, fmt.Appendf(nil,
			`{"modelfile":"FROM mock","template":"{{ .Prompt }}",%s,"model_info":{"general.architecture":"mock","mock.context_length":4096},`+
				`"capabilities":["completion","tools","thinking"],"modified_at":"%s"}`,
			ollamaDetails, s.epochText()))
		return
	}
	writeJSON(w, fail.Status, []byte(wire.PlainError(fail)))
}

// epochText returns the server's epoch in Ollama's format for times.
func (s *Server) epochText() string { return s.clock.Epoch.UTC().Format(time.RFC3339Nano) }
