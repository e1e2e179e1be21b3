package mockserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// documents returns the JSON documents of a body: each ends with lines or, if that
// is empty, is an event.
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

// at walks into a document; nil where there is nothing.
func at(v any, path ...any) any {
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

func openaiSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		c := at(d, "choices", 0)
		text += str(at(c, "text")) + str(at(c, "delta", "content")) + str(at(c, "message", "content"))
		ended = ended || str(at(c, "finish_reason")) == "length"
	}
	return text, ended
}

func responseSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		switch {
		case d["object"] == "response":
			return str(at(d, "output", 0, "content", 0, "text")), d["status"] == "incomplete"
		case d["type"] == "response.output_text.delta":
			text += str(d["delta"])
		case d["type"] == "response.incomplete":
			ended = at(d, "response", "usage", "output_tokens") == 4.0 && str(at(d, "response", "output", 0, "content", 0, "text")) == text
		}
	}
	return text, ended
}

func tgiSays(docs []map[string]any) (text string, ended bool) {
	if len(docs) == 1 {
		return str(docs[0]["generated_text"]), at(docs[0], "details", "generated_tokens") == 4.0
	}
	for _, d := range docs {
		text += str(at(d, "token", "text"))
		ended = str(d["generated_text"]) == text && at(d, "details", "finish_reason") == "length"
	}
	return text, ended
}

func llamacppSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["content"])
		ended = d["stop"] == true && d["stop_type"] == "limit" && at(d, "timings", "predicted_n") == 4.0 &&
			at(d, "timings", "prompt_ms") == 1000.0 && at(d, "timings", "predicted_ms") == 300.0
	}
	return text, ended
}

func ollamaSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["response"]) + str(at(d, "message", "content"))
		ended = d["done"] == true && d["done_reason"] == "length" && d["eval_count"] == 4.0 && d["eval_duration"] == 3e8 &&
			d["prompt_eval_count"] == 2.0 && d["prompt_eval_duration"] == 1e9 && d["total_duration"] == 1.3e9
	}
	return text, ended
}

func cumulativeSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		ids, _ := d["output_ids"].([]any)
		if !strings.HasPrefix(str(d["text"]), text) || at(d, "meta_info", "completion_tokens") != float64(len(ids)) {
			return "not cumulative", false
		}
		text = str(d["text"])
		ended = at(d, "meta_info", "finish_reason", "type") == "length"
	}
	return text, ended
}

func lmdeploySays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["text"])
		ended = at(d, "meta_info", "finish_reason", "type") == "length"
	}
	return text, ended
}

func vllmDemoSays(docs []map[string]any) (text string, ended bool) {
	text = str(at(docs[len(docs)-1], "text", 0))
	return strings.TrimPrefix(strings.ReplaceAll(text, `"`, ""), "a prompt"), false
}

func mindieVLLMSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(at(d, "text", 0))
	}
	return strings.TrimPrefix(text, "a prompt "), false // the first is of a whole answer
}

func inferSays(docs []map[string]any) (text string, ended bool) {
	for i, d := range docs {
		text += str(at(d, "token", "text"))
		if all := str(d["generated_text"]); all != "" {
			text, ended = all, strings.HasPrefix(all, text) && at(d, "details", "generated_tokens") == 4.0
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

func tritonSays(docs []map[string]any) (text string, ended bool) {
	for _, d := range docs {
		text += str(d["text_output"])
	}
	return text, false
}
