package mockserver

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// documents returns the JSON documents of a body. If lines is empty, each document is an event.
// Otherwise lines is the end of each document.
func documents(t *testing.T, body, lines string, stream bool) []map[string]any {
	t.Helper()
	sep, prefix := "\n\n", "data: "
	if lines != "" {
		sep, prefix = lines, ""
	}
	parts := []string{body}
	if stream {
		parts = strings.Split(strings.TrimSuffix(body, sep), sep)
	}
	if stream && (lines == "messages" || lines == "chunks") {
		parts = payloads(t, []byte(body), lines == "chunks")
	}
	var docs []map[string]any
	for _, p := range parts {
		if stream && lines == "" {
			if strings.HasPrefix(p, "event: ") {
				_, p, _ = strings.Cut(p, "\n")
			}
			if !strings.HasPrefix(p, prefix) {
				t.Fatalf("event %q, want it to begin with %q", p, prefix)
			}
			if p = strings.TrimPrefix(p, prefix); p == "[DONE]" {
				continue
			}
		}
		var d map[string]any
		if err := json.Unmarshal([]byte(p), &d); err != nil {
			t.Fatalf("document %q: %v", p, err)
		}
		docs = append(docs, d)
	}
	return docs
}

// payloads returns the payloads of the messages in a body, or with chunks what they encode. It checks the
// lengths and the checksums.
func payloads(t *testing.T, body []byte, chunks bool) (all []string) {
	t.Helper()
	for len(body) > 0 {
		n, headers := int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
		if n < 16+headers || n > len(body) || binary.BigEndian.Uint32(body[8:]) != crc32.ChecksumIEEE(body[:8]) || binary.BigEndian.Uint32(body[n-4:]) != crc32.ChecksumIEEE(body[:n-4]) {
			t.Fatalf("not a message: %q", body)
		}
		payload := body[12+headers : n-4]
		if chunks {
			var chunk struct{ Bytes []byte }
			if err := json.Unmarshal(payload, &chunk); err != nil {
				t.Fatalf("chunk %q: %v", payload, err)
			}
			payload = chunk.Bytes
		}
		all, body = append(all, string(payload)), body[n:]
	}
	return all
}

// lookup returns the value at a path in a document, or nil if there is none.
func lookup(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			a, _ := v.([]any)
			if p >= len(a) {
				return nil
			}
			v = a[p]
		}
	}
	return v
}

func str(v any) string { s, _ := v.(string); return s }

func readOpenAI(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		c := lookup(d, "choices", 0)
		text += str(lookup(c, "text")) + str(lookup(c, "delta", "content")) + str(lookup(c, "message", "content"))
		ended = ended || str(lookup(c, "finish_reason")) == "length"
	}
	return text, ended
}

func readResponses(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		switch {
		case d["object"] == "response":
			return str(lookup(d, "output", 0, "content", 0, "text")), d["status"] == "incomplete"
		case d["type"] == "response.output_text.delta":
			text += str(d["delta"])
		case d["type"] == "response.incomplete":
			ended = lookup(d, "response", "usage", "output_tokens") == 4.0 && str(lookup(d, "response", "output", 0, "content", 0, "text")) == text
		}
	}
	return text, ended
}

func readAnthropic(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(lookup(d, "delta", "text")) + str(lookup(d, "content", 0, "text"))
		ended = d["type"] == "message_stop"
	}
	return text, ended
}

func readGemini(docs []map[string]any) (text string, ended bool) {
	for i, d := range docs {
		text += str(lookup(d, "candidates", 0, "content", "parts", 0, "text"))
		ended = lookup(d, "candidates", 0, "finishReason") == "MAX_TOKENS" && lookup(d, "usageMetadata", "totalTokenCount") == 6.0 &&
			(len(docs) == 1 || lookup(docs[i], "usageMetadata", "candidatesTokenCount") == float64(i+1))
	}
	return text, ended
}

func readConverse(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(lookup(d, "delta", "text")) + str(lookup(d, "output", "message", "content", 0, "text"))
		ended = lookup(d, "usage", "outputTokens") == 4.0 && lookup(d, "metrics", "latencyMs") == 1300.0
	}
	return text, ended
}

func readCohere(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(lookup(d, "delta", "message", "content", "text")) + str(lookup(d, "message", "content", 0, "text"))
		ended = d["type"] == "message-end" && lookup(d, "delta", "usage", "tokens", "output_tokens") == 4.0 && lookup(d, "delta", "finish_reason") == "MAX_TOKENS"
	}
	return text, ended
}

func readTGI(docs []map[string]any) (text string, ended bool) {
	if len(docs) == 1 {
		return str(docs[0]["generated_text"]), lookup(docs[0], "details", "generated_tokens") == 4.0
	}
	for _, d := range docs {
		text += str(lookup(d, "token", "text"))
		ended = str(d["generated_text"]) == text && lookup(d, "details", "finish_reason") == "length"
	}
	return text, ended
}

func readLlamacpp(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["content"])
		ended = d["stop"] == true && d["stop_type"] == "limit" && lookup(d, "timings", "predicted_n") == 4.0 &&
			lookup(d, "timings", "prompt_ms") == 1000.0 && lookup(d, "timings", "predicted_ms") == 300.0
	}
	return text, ended
}

func readOllama(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["response"]) + str(lookup(d, "message", "content"))
		ended = d["done"] == true && d["done_reason"] == "length" && d["eval_count"] == 4.0 && d["eval_duration"] == 3e8 &&
			d["prompt_eval_count"] == 2.0 && d["prompt_eval_duration"] == 1e9 && d["total_duration"] == 1.3e9
	}
	return text, ended
}

func readCumulative(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		ids, _ := d["output_ids"].([]any)
		if !strings.HasPrefix(str(d["text"]), text) || lookup(d, "meta_info", "completion_tokens") != float64(len(ids)) {
			return "not cumulative", false
		}
		text = str(d["text"])
		ended = lookup(d, "meta_info", "finish_reason", "type") == "length"
	}
	return text, ended
}

func readLMDeploy(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["text"])
		ended = lookup(d, "meta_info", "finish_reason", "type") == "length"
	}
	return text, ended
}

func readVLLMDemo(docs []map[string]any) (text string, ended bool) {
	text = str(lookup(docs[len(docs)-1], "text", 0))
	return strings.TrimPrefix(strings.ReplaceAll(text, `"`, ""), "a prompt"), false
}

func readMindIEVLLM(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(lookup(d, "text", 0))
	}
	return strings.TrimPrefix(text, "a prompt "), false // a whole answer begins with the prompt
}

func readInfer(docs []map[string]any) (text string, ended bool) {
	for i, d := range docs {
		text += str(lookup(d, "token", "text"))
		if all := str(d["generated_text"]); all != "" {
			text, ended = all, strings.HasPrefix(all, text) && lookup(d, "details", "generated_tokens") == 4.0
		}
		step, ms := "prefill_time", 1000.0
		if i > 0 {
			step, ms = "decode_time", 100
		}
		if len(docs) > 1 && d[step] != ms {
			return fmt.Sprintf("%v, want %s %v", d, step, ms), ended
		}
	}
	return text, ended
}

func readTriton(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["text_output"])
	}
	return text, false
}
