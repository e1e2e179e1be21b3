package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// ollamaPath answers what Ollama's clients ask beside completions.
func (s *Server) ollamaPath(w http.ResponseWriter, path string) {
	at := s.clock.epoch.UTC().Format(time.RFC3339Nano)
	const digest = "0000000000000000000000000000000000000000000000000000000000000000"
	body := ""
	switch path {
	case "/":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("Ollama is running"))
		return
	case "/api/version":
		body = `{"version":"0.0.0-mock"}`
	case "/api/tags":
		body = fmt.Sprintf(`{"models":[{"name":%s,"model":%[1]s,"modified_at":"%s","size":1,"digest":"%s",%s}]}`, s.model, at, digest, ollamaDetails)
	case "/api/ps":
		body = fmt.Sprintf(`{"models":[{"name":%s,"model":%[1]s,"size":1,"digest":"%s",%s,"expires_at":"%s","size_vram":1,"context_length":4096}]}`,
			s.model, digest, ollamaDetails, at)
	}
	writeJSON(w, http.StatusOK, []byte(body))
}

const ollamaDetails = `"details":{"parent_model":"","format":"gguf","family":"mock","families":["mock"],"parameter_size":"0B","quantization_level":"Q4_0"}`

// ollamaShow answers POST /api/show, of any model.
func (s *Server) ollamaShow(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model string `json:"model"`
		Name  string `json:"name"` // what it was called before
	}
	fail := badRequest("model", "model is required")
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&req); err != nil {
		fail = badBody(err)
	} else if req.Model != "" || req.Name != "" {
		writeJSON(w, http.StatusOK, fmt.Appendf(nil,
			`{"modelfile":"FROM mock","template":"{{ .Prompt }}",%s,"model_info":{"general.architecture":"mock","mock.context_length":4096},`+
				`"capabilities":["completion","tools","thinking"],"modified_at":"%s"}`,
			ollamaDetails, s.clock.epoch.UTC().Format(time.RFC3339Nano)))
		return
	}
	writeJSON(w, fail.status, []byte(plainError(fail)))
}
