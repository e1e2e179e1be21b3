package mockserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// tokenize answers POST /tokenize: the ids of a text's words. A body with
// "content" is llama.cpp's, one with "prompt" or "messages" vLLM's.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Content  *string         `json:"content"`
		Prompt   json.RawMessage `json:"prompt"`
		Messages []message       `json:"messages"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		badBody(err).write(w)
		return
	}
	ids := []int{}
	in := input{prompt: func(word string) { ids = append(ids, wordID(word)) }}
	var fail *apiError
	switch {
	case q.Content != nil:
		in.prompt.count(*q.Content)
		writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"tokens":%s}`, marshal(ids)))
		return
	case q.Messages != nil:
		_, fail = in.countMessages("messages", q.Messages)
	default:
		_, _, fail = in.countPrompt("prompt", q.Prompt)
	}
	if fail != nil {
		fail.write(w)
		return
	}
	most := mostTokens
	if s.cfg.Engine != nil {
		most = cmp.Or(s.cfg.Engine.MaxContext, most)
	}
	writeJSON(w, http.StatusOK, fmt.Appendf(nil, `{"count":%d,"max_model_len":%d,"tokens":%s,"token_strs":null}`, len(ids), most, marshal(ids)))
}

// otherIDs is how many ids there are for words that the output never has. Two
// words may share one.
const otherIDs = 1 << 17

// wordID returns a word's id as a token: in the output's vocabulary that which it
// has there, else one beyond them.
func wordID(word string) int {
	for i, known := range vocabulary {
		if known[1:] == word {
			return firstID + i
		}
	}
	return firstID + len(vocabulary) + int(hashOf(0, word)%otherIDs)
}
