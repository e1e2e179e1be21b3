package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// saltOf sets LLMBENCH_SALT until t ends. It returns a server with that salt.
func saltOf(t *testing.T, salt string, target llmbench.Target, o Options) server {
	t.Helper()
	t.Setenv("LLMBENCH_SALT", salt)
	o, err := prepareServe(o, parse(t))
	assert.NilError(t, err)
	return server{options: o, target: target, counter: counter{tokens: tokenizer.Words{}}, salt: target.Salt()}
}

// TestSaltKeepsFigures measures a simulated server with a prefix cache, in virtual time. The times
// depend on the lengths of the prompts and on the content of the cache. With a new salt, each
// request must take the same time on a server that has seen another salt as on a new server. With a
// salt that the server has already seen, the times must differ.
func TestSaltKeepsFigures(t *testing.T) {
	e := engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 8, KVBlocks: 1 << 20, BlockTokens: 4, PrefixCache: true}
	for _, o := range []Options{
		{Dataset: "random", Input: 40, Output: 4},
		{Dataset: "random-vllm?ratio=0.5", Input: 40, Output: 4},
		{Dataset: "random?input=lognormal(40,0.6)&output=2..6"},
		{Dataset: "generated-shared-prefix?per-group=4&system=64&question=16", Output: 4},
		{Dataset: "openqa:../benchdata/testdata/kinds/openqa.jsonl", Output: 4},
		{Dataset: "mooncake:../benchdata/testdata/kinds/mooncake.jsonl"},
	} {
		o.Seed = 1
		measure := func(t *testing.T, target llmbench.Target, salt string) (times []string, cached int) {
			s := saltOf(t, salt, target, o)
			requests, err := s.drawDataset(12, 1, s.target.Salt("benchmark"))
			assert.NilError(t, err)
			result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: requests, Concurrency: 1})
			assert.NilError(t, err)
			for r := range result.All() {
				assert.Equal(t, r.Outcome, sample.OK, "%v", r.Err)
				ttft, _ := r.TTFT()
				e2e, _ := r.E2E()
				times = append(times, fmt.Sprint(r.PromptTokens, r.CachedTokens, ttft, e2e))
				cached += r.CachedTokens
			}
			return times, cached
		}
		var first []string
		virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
			var cached int
			first, cached = measure(t, target, "1")
			for _, salt := range []string{"2", "3"} {
				times, _ := measure(t, target, salt)
				assert.DeepEqual(t, times, first)
			}
			again, more := measure(t, target, "1")
			assert.Assert(t, more > cached && !slices.Equal(again, first), "%s: %d and then %d cached tokens", o.Dataset, cached, more)
		})
		virtual(t, mockserver.Config{Engine: &e}, func(t *testing.T, target llmbench.Target) {
			times, _ := measure(t, target, "4")
			assert.DeepEqual(t, times, first)
		})
	}
}

// A sentPrompt is what a server received for one request.
type sentPrompt struct {
	text   string // the text of the first message, or the prompt
	words  int    // the number of words in all messages
	output int    // the limit of the tokens of the answer
}

// beginning returns the first four words. They are fewer tokens than a block of any cache.
func (p sentPrompt) beginning() string { return strings.Join(strings.Fields(p.text)[:4], " ") }

// recording starts a simulated server without delays. The server records the prompts that it
// receives.
func recording(t *testing.T) (url string, received func() []sentPrompt) {
	t.Helper()
	srv, err := mockserver.New(mockserver.Config{Shape: shape.Shape{Reasoning: "reasoning_content"}})
	assert.NilError(t, err)
	var mu sync.Mutex
	var all []sentPrompt
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var sent struct {
			Prompt    string
			Messages  []struct{ Content string }
			MaxTokens int `json:"max_tokens"`
		}
		control := strings.Contains(r.Header.Get("X-Request-Id"), "-cache-") // a request that controls the prefix cache, whose prompt differs in each process
		if json.Unmarshal(body, &sent) == nil && sent.MaxTokens > 0 && !control {
			p := sentPrompt{sent.Prompt, len(strings.Fields(sent.Prompt)), sent.MaxTokens}
			for _, m := range slices.Backward(sent.Messages) {
				p.text = m.Content
				p.words += len(strings.Fields(m.Content))
			}
			mu.Lock()
			all = append(all, p)
			mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, func() []sentPrompt {
		mu.Lock()
		defer mu.Unlock()
		sent := all
		all = nil
		return sent
	}
}

// sentBy runs benchmarks in a separate process. It returns the prompts of their requests, in an
// order that does not depend on time.
func sentBy(t *testing.T, url string, received func() []sentPrompt, names string, env ...string) []sentPrompt {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=^Benchmark("+names+")$", "-test.benchtime=1x")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
	cmd.Env = append(append(cmd.Env, "LLMBENCH_URL="+url, "LLMBENCH_MODEL=mock", "LLMBENCH_CLIENT_BOUND=report"), env...)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	// The requests that check whether the server is ready, and how it counts, are left out.
	sent := slices.DeleteFunc(received(), func(p sentPrompt) bool { return p.output == 1 || p.text == "Say hello." })
	slices.SortFunc(sent, func(a, b sentPrompt) int {
		return cmp.Or(cmp.Compare(a.words, b.words), cmp.Compare(a.output, b.output), cmp.Compare(a.text, b.text))
	})
	return sent
}

// TestSaltOfScenarios runs scenarios in three processes, two of which have the same salt. Processes
// with the same salt must send the same prompts. No prompt of one salt may begin like a prompt of
// the other. The lengths of the prompts must be the same for all.
func TestSaltOfScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	// Other scenarios make their prompts in the same ways as these. SLO and Sweep are left out, because their number of
	// passes depends on time, and so would Serve's loads without LLMBENCH_CONCURRENCY.
	const names = "Chat|Concurrency|MultiTurn|PrefixCache|Reasoning|Serve|StructuredOutput|ToolCalls|Trace"
	var sent [3][]sentPrompt
	var all sync.WaitGroup
	for i, salt := range []string{"1", "1", "2"} {
		url, received := recording(t)
		all.Go(func() { sent[i] = sentBy(t, url, received, names, "LLMBENCH_SALT="+salt, "LLMBENCH_CONCURRENCY=1,8") })
	}
	all.Wait()
	first, again, other := sent[0], sent[1], sent[2]
	assert.Assert(t, len(first) > 500, "%d requests", len(first))
	assert.Equal(t, len(again), len(first))
	assert.Equal(t, len(other), len(first))
	begin := map[string]bool{}
	for i, p := range first {
		assert.Equal(t, again[i], p)
		assert.Equal(t, other[i].words, p.words)
		assert.Equal(t, other[i].output, p.output)
		assert.Assert(t, p.words > 4, p.text)
		begin[p.beginning()] = true
	}
	for _, p := range other {
		assert.Assert(t, !begin[p.beginning()], "two salts have %q", p.beginning())
	}
}

// TestSaltOfQuestions sends the published loads of experiment D8, for 1, 16, 32 and 64 users. The
// file has two questions. With a salt, each number of users must get different questions. Without a
// salt, all must get the questions of the file.
func TestSaltOfQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	url, received := recording(t)
	dir := t.TempDir()
	file, err := os.ReadFile("../benchdata/testdata/kinds/openqa.jsonl")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "open_qa.jsonl"), file, 0o666))
	for salt, want := range map[string]int{"0": 2, "1": 1 + 3*2} {
		sent := sentBy(t, url, received, "OpenQA", "LLMBENCH_SALT="+salt, "LLMBENCH_FULL=D8", "LLMBENCH_DATA="+dir)
		assert.Equal(t, len(sent), 301)
		texts := map[string]bool{}
		for _, p := range sent {
			texts[p.text] = true
			assert.Assert(t, p.words == 4 || p.words == 5, p.text)
		}
		assert.Equal(t, len(texts), want, "salt %s: %q", salt, slices.Collect(maps.Keys(texts)))
		assert.Equal(t, texts["what makes bread rise"], salt == "0")
	}
}
