package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// TestSharedByDesign checks that scenarios whose prompts share a beginning by design, or repeat, do not warn of the
// cache that serves it.
func TestSharedByDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	srv, err := mockserver.New(mockserver.Config{Engine: &engine.Profile{Step: 200, Prefill: 200, PrefillPerToken: 2, MaxBatch: 64, PrefixCache: true}})
	assert.NilError(t, err)
	server := httptest.NewServer(srv)
	defer server.Close()
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"MultiTurn", Options{}}, {"Agent", Options{}}, {"ToolCalls", Options{}}, {"Agreement", Options{}},
		{"Serve", Options{Dataset: "generated-shared-prefix?per-group=8&system=256&question=32", Output: 8}},
		{"Concurrency", Options{Dataset: "prefix-repetition?prefixes=4&prefix=256&suffix=32", Output: 8, Concurrencies: []int{4}}},
		{"Serve", Options{Dataset: "random?prefix=400", Output: 8}},
	} {
		out := t.TempDir()
		t.Setenv("LLMBENCH_OUT", out)
		onePass(t, func(b *testing.B) {
			b.Run(c.name, func(b *testing.B) {
				scenario(c.name).Run(b, llmbench.Target{URL: server.URL, Model: "mock", Simulated: true}, c.o)
			})
		})
		files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
		assert.NilError(t, err)
		warm := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			assert.NilError(t, err)
			lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			var last struct {
				End struct {
					Notes       []struct{ Kind, Text string }
					PrefixCache struct{ Verdict string } `json:"prefix_cache"`
				}
			}
			assert.NilError(t, json.Unmarshal(lines[len(lines)-1], &last))
			if last.End.PrefixCache.Verdict == "warm" {
				warm++
			}
			for _, n := range last.End.Notes {
				assert.Assert(t, n.Kind != "cache", "%s: %s: %v", c.name, filepath.Base(file), n)
			}
		}
		assert.Assert(t, warm > 0, "%s: %d files, none with a warm cache", c.name, len(files))
	}
}

// TestRefusedInside checks that a scenario is skipped if the server refuses a request that asks whether it can serve such
// requests: with a status, or with an error that states one in an answer with status 200, as SGLang does.
func TestRefusedInside(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		status           int
		skipped          bool
	}{
		{"a status", "application/json", `{"error":{"message":"no grammar"}}`, 400, true},
		{"an error in a stream", "text/event-stream", `data: {"error":{"message":"no grammar","code":400}}` + "\n\ndata: [DONE]\n\n", 200, true},
		{"a string", "text/event-stream", `data: {"error":{"message":"no tools","status":"422"}}` + "\n\n", 200, true},
		{"not implemented", "text/event-stream", `data: {"error":{"message":"no tools","code":501}}` + "\n\n", 200, true},
		{"no code", "text/event-stream", `data: {"error":{"message":"broken"}}` + "\n\n", 200, false},
		{"another code", "text/event-stream", `data: {"error":{"message":"broken","code":409}}` + "\n\n", 200, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		skipped, failed := false, false
		onePass(t, func(b *testing.B) {
			defer func() { skipped, failed = b.Skipped(), b.Failed() }()
			s := serverAt(server.URL)
			s.once(b, llmbench.Request{Prompt: "one two", MaxTokens: 4})
		})
		assert.Equal(t, skipped, c.skipped, c.name)
		assert.Equal(t, failed, !c.skipped, c.name)
		server.Close()
	}
}

// TestDecodePrompts checks that the prompts of Decode have the length in its name, including the server's template, and
// more only if the template leaves no room.
func TestDecodePrompts(t *testing.T) {
	for template, want := range map[int]int{0: 16, 10: 16, 14: 16, 15: 16, 16: 32, 100: 116} {
		s := server{counter: counter{tokens: tokenizer.Words{}, template: template}}
		requests, err := speedData("tg128", 16, 128, anyEndpoint).draw(s, "", 3, 1)
		assert.NilError(t, err)
		for _, r := range requests {
			assert.Equal(t, r.PromptTokens, want, template)
			assert.Equal(t, tokenizer.Words{}.Count(r.Prompt), want-template, template)
		}
	}
}

// serverAt returns a server whose tokens are words.
func serverAt(url string) server {
	return server{target: llmbench.Target{URL: url, Model: "m"}, counter: counter{tokens: tokenizer.Words{}}}
}
