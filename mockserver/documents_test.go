package mockserver

import (
	"encoding/json"
	"fmt"
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
