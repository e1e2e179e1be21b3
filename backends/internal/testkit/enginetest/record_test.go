package enginetest_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

var record = flag.Bool("record", false, "record the answers of engines that are installed")

// exchanges are the requests that are recorded, in order. An engine gets those in dialects that it answers.
var exchanges = []struct {
	name    string
	dialect dialect.Dialect
	stream  bool
	request llmbench.Request
}{
	{"chat", dialect.OpenAIChat{}, true, ask},
	{"chat-again", dialect.OpenAIChat{}, true, ask},
	{"chat-whole", dialect.OpenAIChat{}, false, ask},
	{"completions", dialect.OpenAICompletions{}, true, ask},
	{"completions-whole", dialect.OpenAICompletions{}, false, ask},
	{"responses", dialect.OpenAIResponses{}, true, ask},
	{"messages", dialect.AnthropicMessages{}, true, ask},
	{"messages-whole", dialect.AnthropicMessages{}, false, ask},
	{"llamacpp", dialect.LlamaCPP{}, true, ask},
	{"ollama", dialect.Ollama{}, true, ask},
	{"ollama-generate", dialect.OllamaGenerate{}, true, ask},
	{"no-such-model", dialect.OpenAIChat{}, true, llmbench.Request{Prompt: "the sea", MaxTokens: 2, Model: "no-such-model"}},
	{"too-long", dialect.OpenAIChat{}, true, llmbench.Request{Prompt: strings.Repeat("sea ", 8000), MaxTokens: 2}},
}

// ask is sent several times, so that later answers may come from the prefix cache.
var ask = llmbench.Request{Prompt: strings.Repeat("Tell me about the sea. ", 16), MaxTokens: 16, FixedOutput: true}

// states are what is read before and after the exchanges.
var states = map[string]string{
	"models": "/v1/models", "metrics": "/metrics", "version": "/version", "props": "/props", "health": "/health", "server-info": "/server_info",
}

// TestRecord records the answers of the engines that are installed. It runs with -record only.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("it writes test data: go run ./.ci/engines -record")
	}
	for _, e := range enginetest.Engines {
		t.Run(e.Name, func(t *testing.T) {
			s := enginetest.Start(t, e, enginetest.Options{})
			assert.NilError(t, os.RemoveAll(folder(e)))
			assert.NilError(t, os.MkdirAll(folder(e), 0o777))
			keep := func(name, method, path string, header http.Header, body []byte) {
				r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(body))
				assert.NilError(t, err)
				r.Header = header
				res, err := http.DefaultClient.Do(r)
				assert.NilError(t, err)
				defer res.Body.Close()
				answer, err := io.ReadAll(res.Body)
				assert.NilError(t, err)
				answer = bytes.ReplaceAll(answer, []byte(s.Model), []byte("/models"))
				res.Header.Set("Content-Length", strconv.Itoa(len(answer)))
				var text bytes.Buffer
				fmt.Fprintf(&text, "HTTP/1.1 %s\r\n", res.Status)
				assert.NilError(t, res.Header.Write(&text))
				text.WriteString("\r\n")
				text.Write(answer)
				assert.NilError(t, os.WriteFile(filepath.Join(folder(e), name+".http"), text.Bytes(), 0o666))
			}
			for name, path := range states {
				keep(name, http.MethodGet, path, nil, nil)
			}
			for _, x := range exchanges {
				if !answers(e, x.dialect) {
					continue
				}
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					assert.Check(t, err)
					keep(x.name, r.Method, r.URL.Path, r.Header, body)
					replay(t, w, e, x.name)
				}))
				llmbench.Do(t.Context(), llmbench.Target{URL: proxy.URL, Model: enginetest.ModelName, Dialect: x.dialect}, x.request, x.stream)
				proxy.Close()
			}
			keep("metrics-after", http.MethodGet, "/metrics", nil, nil)
		})
	}
}

// folder is where the answers of a version of an engine are. NAME.http has the status line, the header and the body of an
// answer.
func folder(e enginetest.Engine) string { return filepath.Join("testdata", e.Name+"-"+e.Version) }

func answers(e enginetest.Engine, d dialect.Dialect) bool {
	return d.Name() == dialect.OpenAIChat{}.Name() || slices.Contains(e.Dialects, d.Name())
}

// replay writes an answer that was recorded.
func replay(t *testing.T, w http.ResponseWriter, e enginetest.Engine, name string) {
	f, err := os.Open(filepath.Join(folder(e), name+".http"))
	if !assert.Check(t, err) {
		return
	}
	defer f.Close()
	res, err := http.ReadResponse(bufio.NewReader(f), nil)
	if !assert.Check(t, err) {
		return
	}
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// TestRecorded reads the answers that were recorded of each engine, as a benchmark reads them.
func TestRecorded(t *testing.T) {
	for _, e := range enginetest.Engines {
		t.Run(e.Name, func(t *testing.T) {
			if _, err := os.Stat(folder(e)); err != nil {
				t.Skipf("nothing of this version was recorded: go run ./.ci/engines -record %s", e.Name)
			}
			var text strings.Builder
			for _, x := range exchanges {
				if !answers(e, x.dialect) {
					continue
				}
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { replay(t, w, e, x.name) }))
				s := llmbench.Do(t.Context(), llmbench.Target{URL: server.URL, Model: enginetest.ModelName, Dialect: x.dialect}, x.request, x.stream)
				server.Close()
				fmt.Fprintf(&text, "%s: %s, %d prompt tokens, %d of them cached, %d output tokens from %s, %d deltas, finish %q", x.name, s.Outcome,
					s.PromptTokens, s.CachedTokens, s.OutputTokens, s.TokenSource, s.Deltas, s.Finish)
				if s.Err != nil {
					fmt.Fprintf(&text, ", %v", s.Err)
				}
				text.WriteString("\n")
			}
			golden.Assert(t, text.String(), filepath.Join(filepath.Base(folder(e)), "samples.golden"))
		})
	}
}
