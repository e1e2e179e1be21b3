package mockserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// tokenize answers POST /tokenize with the ids of a text's words. A body with "content" is
// in llama.cpp's format; a body with "prompt" or "messages" is in vLLM's.
func tokenize(s *Server, w http.ResponseWriter, r *http.Request) {
	var q struct {
		Content  *string         `json:"content"`
		Prompt   json.RawMessage `json:"prompt"`
		Messages []wire.Message  `json:"messages"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		writeError(w, wire.BadBody(err))
		return
	}
	ids := []int{}
	in := wire.Input{PromptTokens: func(word string) { ids = append(ids, vocab.WordID(word)) }}
	var fail *wire.Error
	switch {
	case q.Content != nil:
		in.PromptTokens.Words(*q.Content)
		writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"tokens":%s}`, jsontext.Marshal(ids)))
		return
	case q.Messages != nil:
		_, fail = in.CountMessages("messages", q.Messages)
	default:
		_, _, fail = in.CountPrompt("prompt", q.Prompt)
	}
	if fail != nil {
		writeError(w, fail)
		return
	}
	maxContext := wire.MaxTokens
	if s.cfg.Engine != nil {
		maxContext = cmp.Or(s.cfg.Engine.MaxContext, maxContext)
	}
	writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"count":%d,"max_model_len":%d,"tokens":%s,"token_strs":null}`, len(ids), maxContext, jsontext.Marshal(ids)))
}
