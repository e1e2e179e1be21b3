package tokenizer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// showing starts a server with Ollama's endpoint /api/show.
func showing(t *testing.T, status int, info any) llmbench.Target {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model   string
			Verbose bool
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/base/api/show" || q.Model != "m" || !q.Verbose || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%s %s %v: %+v", r.Method, r.URL, r.Header, q)
		}
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(map[string]any{"modelfile": "FROM x", "model_info": info}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return llmbench.Target{URL: srv.URL + "/base/", Model: "m", Header: http.Header{"authorization": {"Bearer k"}}}
}

// ggufInfo returns the metadata of a GGUF file with the vocabulary of a tokenizer.json.
func ggufInfo(t *testing.T, path, pre string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	var f hfFile
	assert.NilError(t, json.Unmarshal(data, &f))
	size := len(f.Model.Vocab)
	for _, a := range f.AddedTokens {
		size = max(size, int(a.ID)+1)
	}
	tokens, types := make([]string, size), make([]int, size)
	for i := range types {
		tokens[i], types[i] = fmt.Sprintf("[PAD%d]", i), 5
	}
	for token, id := range f.Model.Vocab {
		tokens[id], types[id] = token, 1
	}
	for _, a := range f.AddedTokens {
		tokens[a.ID], types[a.ID] = a.Content, 3
	}
	var merges []string
	for _, m := range f.Model.Merges {
		merges = append(merges, m[0]+" "+m[1])
	}
	return map[string]any{
		"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre,
		"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types, "tokenizer.ggml.merges": merges,
	}
}

var ollamaTexts = []string{
	"", "a", "The quick brown fox doesn't jump over 12345 lazy dogs.", "naïve Ärger 東京 \U0001F600", "  two\n\n lines\t", "<|im_start|>user\nI'LL<|im_end|>",
}

func TestOllamaByteLevel(t *testing.T) {
	for pre, path := range map[string]string{
		"gpt-2": "testdata/gpt2-style.json", "qwen2": "testdata/qwen2-style.json", "llama-bpe": "testdata/llama3-style.json",
	} {
		got, err := NewOllama(t.Context(), showing(t, http.StatusOK, ggufInfo(t, path, pre)))
		assert.NilError(t, err)
		want := load(t, path)
		for _, text := range ollamaTexts {
			assert.DeepEqual(t, got.Encode(text), want.Encode(text))
		}
	}
}

// TestOllamaSplits checks, for each entry of ggufSplits, the pieces into which it splits a text.
func TestOllamaSplits(t *testing.T) {
	const qwen2, llama3 = "oneTwo|'s|Ġ|1|2|3|/Ċ", "oneTwo|'s|Ġ|123|/Ċ"
	want := map[string]string{
		"gpt-2": "oneTwo|'s|Ġ123|/|Ċ", "qwen2": qwen2, "deepseek-r1-qwen": qwen2, "dbrx": llama3, "llama-bpe": llama3,
		"llama3": llama3, "llama-v3": llama3, "tekken": "one|Two|'s|Ġ|1|2|3|/Ċ", "gpt-4o": "one|Two's|Ġ|123|/Ċ",
	}
	for pre := range ggufSplits {
		v := ggufVocabulary{Model: "gpt2", Pre: pre, Tokens: []string{"a", "b", "ab"}, Types: []int32{1, 1, 1}, Merges: []hfMerge{{"a", "b"}}}
		tok, err := v.tokenizer()
		assert.NilError(t, err, pre)
		var pieces []string
		for _, p := range tok.pieces("oneTwo's 123/\n", true) {
			pieces = append(pieces, p.text)
		}
		assert.Equal(t, strings.Join(pieces, "|"), want[pre], pre)
	}
}

// sentencePieceTokens is the vocabulary of TestOllamaSentencePiece, sorted by score, the highest first.
var sentencePieceTokens = strings.Fields("▁t he ▁the in er ▁a ing re on ▁s th ▁in and ▁and the ▁ a b c d e f g h i n o r s t .")

// TestOllamaSentencePiece compares tokens with a simple implementation of the published rule.
func TestOllamaSentencePiece(t *testing.T) {
	tokens, types, scores := []string{"<unk>", "<s>", "</s>"}, []int{2, 3, 3}, []float64{0, 0, 0}
	for b := range 256 {
		tokens, types, scores = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, 6), append(scores, 0)
	}
	score := map[string]int{}
	for i, token := range sentencePieceTokens {
		tokens, types, scores = append(tokens, token), append(types, 1), append(scores, -float64(i))
		score[token] = -i
	}
	for _, prefix := range []bool{true, false} {
		tok, err := NewOllama(t.Context(), showing(t, http.StatusOK, map[string]any{
			"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
			"tokenizer.ggml.scores": scores, "tokenizer.ggml.add_space_prefix": prefix,
		}))
		assert.NilError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			var text strings.Builder
			for range random.IntN(30) {
				text.WriteString([]string{"the", "in", "g", " ", "and", "er", " a", "s", "on", ".", "é", "x"}[random.IntN(12)])
			}
			var got []string
			for _, id := range tok.Encode(text.String()) {
				got = append(got, tokens[id])
			}
			want := sentencePieceReference(text.String(), prefix, score)
			assert.DeepEqual(t, got, want)
		}
	}
}

// sentencePieceReference merges the pair with the highest score until none is left.
func sentencePieceReference(text string, prefix bool, score map[string]int) []string {
	if text == "" {
		return nil
	}
	if prefix {
		text = " " + text
	}
	symbols := strings.Split(strings.ReplaceAll(text, " ", "▁"), "")
	for {
		best := -1
		for i := range len(symbols) - 1 {
			s, ok := score[symbols[i]+symbols[i+1]]
			if ok && (best < 0 || s > score[symbols[best]+symbols[best+1]]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		symbols = append(symbols[:best], append([]string{symbols[best] + symbols[best+1]}, symbols[best+2:]...)...)
	}
	var out []string
	for _, s := range symbols {
		if _, ok := score[s]; ok {
			out = append(out, s)
			continue
		}
		for i := range len(s) {
			out = append(out, fmt.Sprintf("<0x%02X>", s[i]))
		}
	}
	return out
}

func TestOllamaErrors(t *testing.T) {
	one := func(key string, value any) map[string]any {
		info := map[string]any{
			"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": []string{"a", "b", "ab"},
			"tokenizer.ggml.token_type": []int{1, 1, 1}, "tokenizer.ggml.merges": []string{"a b"},
		}
		info["tokenizer.ggml."+key] = value
		return info
	}
	for _, c := range []struct {
		status int
		info   any
		want   string
	}{
		{http.StatusNotFound, nil, "/api/show of Ollama: HTTP status 404"},
		{http.StatusOK, nil, "/api/show of Ollama has no model_info"},
		{http.StatusOK, "text", "/api/show of Ollama: json: cannot unmarshal"},
		{http.StatusOK, one("tokens", nil), "no tokenizer.ggml.tokens"},
		{http.StatusOK, one("tokens", []string{"a"}), "1 tokens and 3 types of tokens: want one type for each token"},
		{http.StatusOK, one("merges", nil), "no tokenizer.ggml.merges"},
		{http.StatusOK, one("merges", []string{"a c"}), `merge 0 is "a" and "c"`},
		{http.StatusOK, one("pre", "new"), `tokenizer.ggml.pre is "new", which is not supported`},
		{http.StatusOK, one("model", "bert"), `tokenizer.ggml.model is "bert": want gpt2 or llama`},
		{http.StatusOK, one("model", "llama"), "3 tokens and 0 scores: want one score for each token"},
	} {
		_, err := NewOllama(t.Context(), showing(t, c.status, c.info))
		assert.ErrorIs(t, err, ErrNoEndpoint)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := NewOllama(t.Context(), llmbench.Target{URL: "http://127.0.0.1:1", Model: "m"})
	assert.ErrorContains(t, err, "connection refused")
}
