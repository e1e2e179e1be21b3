package dialect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// TestCases reads the chat streams of the collected conformance cases.
func TestCases(t *testing.T) {
	var records []struct {
		Name, Base, Class string
		ContentType       string `json:"content_type"`
		Chunks            [][]byte
		Chat              *struct {
			Content, Reasoning string
			Finish             string `json:"finish_reason"`
			Usage              *struct {
				Prompt float64 `json:"prompt_tokens"`
				Output float64 `json:"completion_tokens"`
			}
			Done   bool
			Error  *struct{ Message string }
			Chunks int `json:"content_chunks"`
			Stream string
		}
	}
	if err := json.Unmarshal(extraCases(t, "sse-cases.json"), &records); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, r := range records {
		if r.Chat == nil || r.ContentType == "text/html" { // the client recognizes such an answer by its content type
			continue
		}
		ran++
		t.Run(r.Name, func(t *testing.T) {
			stream := bytes.Join(r.Chunks, nil)
			kind, _, err := mime.ParseMediaType(r.ContentType)
			if err != nil {
				t.Fatal(err)
			}
			format := sse.FormatOf(kind)
			var d Dialect = OpenAIChat{}
			if format == sse.JSONLines {
				d = Ollama{}
			}
			p := d.NewParser()
			check := func(how string, got read) {
				t.Helper()
				state := streamState(got)
				if kind == "application/json" {
					state = "not_sse"
				}
				c := r.Chat
				if got.Text != c.Content || got.Reasoning != c.Reasoning || got.Finish != c.Finish || got.Done != c.Done || state != c.Stream {
					t.Fatalf("%s: %+v, %s; want %+v", how, got, state, *c)
				}
				if c.Usage == nil && got.Usage != (Usage{}) || c.Usage != nil && (got.Usage.PromptTokens != int(c.Usage.Prompt) || got.Usage.OutputTokens != int(c.Usage.Output)) {
					t.Fatalf("%s: usage %+v; want %+v", how, got.Usage, c.Usage)
				}
				if c.Error == nil && got.Fault != "" || c.Error != nil && got.Fault != c.Error.Message {
					t.Fatalf("%s: fault %q; want %+v", how, got.Fault, c.Error)
				}
				if c.Stream == "complete" && (got.Unread != "" || got.Strange != "" || got.UnknownFinish) {
					t.Fatalf("%s: unread %q, strange %q, unknown finish reason %t; want nothing unknown", how, got.Unread, got.Strange, got.UnknownFinish)
				}
				if got.ToolCall == "" && got.Chunks != c.Chunks {
					t.Fatalf("%s: %d chunks; want %d", how, got.Chunks, c.Chunks)
				}
			}
			if kind == "application/json" {
				var got read
				var delta Delta
				p.Reset()
				if err := p.Body(stream, &delta); err != nil {
					t.Fatal(err)
				}
				got.add(&delta)
				check("body", got)
				return
			}
			for how, src := range everyWay(stream) {
				check(how, readAll(p, format, src))
			}
			if len(stream) < 6000 {
				for i := range stream {
					check(fmt.Sprintf("split at %d", i), readAll(p, sse.Auto, io.MultiReader(bytes.NewReader(stream[:i]), bytes.NewReader(stream[i:]))))
				}
			}
		})
	}
	if ran < 30 {
		t.Errorf("only %d chat streams were read", ran)
	}
}

// streamState classifies the end of the stream, in the terms of the collection. This is not the same as the
// end of the answer: a stream with [DONE] is complete, even if the finish reason was pending and the answer
// was therefore interrupted.
func streamState(got read) string {
	switch {
	case got.Fault != "":
		return "error"
	case got.Err != "" && !got.truncated:
		return "malformed_event"
	case got.Done:
		return "complete"
	case got.Finish != "":
		return "no_done"
	}
	return "truncated"
}

// TestCaptures reads recorded answers of real servers, with all bytes of their HTTP framing, and compares
// the result with what encoding/json reads.
func TestCaptures(t *testing.T) {
	folder := extracases.Path(t, "captures")
	files, err := filepath.Glob(folder + "/*/*.req")
	if err != nil {
		t.Fatal(err)
	}
	dialects := map[string]Dialect{
		"/v1/chat/completions": OpenAIChat{}, "/v1/completions": OpenAICompletions{}, "/v1/responses": OpenAIResponses{},
		"/completion": LlamaCPP{}, "/api/chat": Ollama{}, "/api/generate": OllamaGenerate{},
	}
	ran := 0
	for _, file := range files {
		request, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(request), "\n")
		method, url, _ := strings.Cut(line, " ")
		_, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		d := dialects["/"+path]
		raw, err := os.ReadFile(strings.TrimSuffix(file, ".req") + ".http")
		if d == nil || method != "POST" || err != nil {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, folder+"/"), ".req")
		ran++
		t.Run(name, func(t *testing.T) {
			open := func(src io.Reader) (*http.Response, error) {
				return http.ReadResponse(bufio.NewReader(src), nil)
			}
			resp, err := open(bytes.NewReader(raw))
			if err != nil {
				t.Skipf("not an HTTP response: %v", err)
			}
			body, readErr := io.ReadAll(resp.Body)
			kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			p := d.NewParser()
			if kind == "application/json" {
				var got read
				var delta Delta
				p.Reset()
				if err := p.Body(body, &delta); err != nil && resp.StatusCode == 200 {
					t.Fatal(err)
				}
				got.add(&delta)
				if (got.Fault != "") != (resp.StatusCode >= 400) {
					t.Errorf("status %s: %+v", resp.Status, got)
				}
				if got.Fault == "" && (got.Usage.OutputTokens == 0 || got.Text == "" && got.Usage.OutputTokens > 2) {
					t.Errorf("%s has %+v", body, got)
				}
				return
			}
			want := reference(body)
			got := readAll(p, sse.FormatOf(kind), bytes.NewReader(body))
			if readErr != nil { // the connection broke within the body
				want.End = "incomplete"
			}
			if diff := cmp.Diff(want, referenceResult{got.Text, got.Reasoning, got.Usage.OutputTokens, got.end()}); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s%+v", diff, got)
			}
			if n := got.Tokens; n != 0 && got.end() == "clean" && n != max(got.Usage.OutputTokens, got.Timings.OutputTokens) {
				t.Errorf("%d tokens in events; want those of %+v", n, got)
			}
			if got.Unread != "" || got.Strange != "" || got.UnknownFinish {
				t.Errorf("unread %q, strange %q, unknown finish reason %t; want nothing unknown", got.Unread, got.Strange, got.UnknownFinish)
			}
			if got.end() == "clean" && got.Text != "" && got.Timings == (Timings{}) && !strings.Contains(name, "/v1_") {
				t.Errorf("no timings")
			}
			for how, src := range everyWay(raw) {
				resp, err := open(src)
				if err != nil {
					t.Fatal(err)
				}
				again := readAll(p, sse.Auto, resp.Body)
				if readErr != nil {
					again.Err, again.truncated = got.Err, got.truncated
				}
				if diff := cmp.Diff(got, again, cmp.AllowUnexported(read{})); diff != "" {
					t.Errorf("%s: mismatch (-body +%s):\n%s", how, how, diff)
				}
			}
		})
	}
	if ran < 40 {
		t.Errorf("only %d captures were read", ran)
	}
}

// TestEngines reads recorded streams of further engines, which have neither a request nor a header. Nothing in
// them may be unknown.
func TestEngines(t *testing.T) {
	folder := extracases.Path(t, "captures/engines-2026-11")
	ran := 0
	for pattern, d := range map[string]Dialect{
		"chat*": OpenAIChat{}, "completions*": OpenAICompletions{}, "completion.": LlamaCPP{}, "*messages*": AnthropicMessages{}, "responses*": OpenAIResponses{},
	} {
		files, err := filepath.Glob(folder + "/*/" + strings.TrimSuffix(pattern, ".") + ".sse")
		assert.NilError(t, err)
		for _, file := range files {
			body, err := os.ReadFile(file)
			assert.NilError(t, err)
			got := readAll(d.NewParser(), sse.Auto, bytes.NewReader(body))
			if got.Fault != "" || !bytes.Contains(body, []byte("data:")) { // the server refused the request
				continue
			}
			ran++
			assert.Equal(t, got.end(), "clean", "%s: %s", file, got.Err)
			assert.Assert(t, got.Text+got.Reasoning != "" && got.Unread == "" && got.Strange == "" && !got.UnknownFinish, "%s: %+v", file, got)
		}
	}
	assert.Assert(t, ran >= 15, "only %d streams were read", ran)
}

type referenceResult struct {
	Text, Reasoning string
	Tokens          int
	End             string
}

// reference reads a stream in the simplest way: by lines, with encoding/json into maps. It supports the
// three families of servers that were recorded.
func reference(body []byte) referenceResult {
	var r referenceResult
	r.End = "incomplete"
	text := func(v any) string { s, _ := v.(string); return s }
	number := func(v any) int { f, _ := v.(float64); return int(f) }
	object := func(v any) map[string]any { m, _ := v.(map[string]any); return m }
	for line := range strings.Lines(string(body)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		var doc map[string]any
		if json.Unmarshal([]byte(line), &doc) != nil {
			continue
		}
		if doc["error"] != nil {
			r.End = "error"
		}
		choices, _ := doc["choices"].([]any)
		for _, c := range choices { // OpenAI
			choice := object(c)
			if number(choice["index"]) != 0 {
				continue
			}
			delta := object(choice["delta"])
			r.Text += text(choice["text"]) + text(delta["content"])
			r.Reasoning += text(delta["reasoning_content"])
			if choice["finish_reason"] != nil {
				r.End = "clean"
			}
		}
		last(&r.Tokens, number(object(doc["usage"])["completion_tokens"]))
		if doc["type"] == "response.output_text.delta" { // OpenAI's responses
			r.Text += text(doc["delta"])
		}
		if doc["type"] == "response.completed" {
			r.End = "clean"
			r.Tokens = number(object(object(doc["response"])["usage"])["output_tokens"])
		}
		r.Text += text(doc["content"]) + text(doc["response"]) + text(object(doc["message"])["content"]) // llama.cpp, Ollama
		last(&r.Tokens, number(doc["tokens_predicted"]))
		last(&r.Tokens, number(doc["eval_count"]))
		if doc["stop"] == true || doc["done"] == true {
			r.End = "clean"
		}
	}
	return r
}
