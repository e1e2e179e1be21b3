package container

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestLlamaCPPContainer compares the token counts of a real llama.cpp in a
// container with the client's counts.
func TestLlamaCPPContainer(t *testing.T) {
	t.Parallel()
	l := llama(t)
	l.Args = []string{"--api-key", "sk-SentWithEachRequest"}
	t.Run("runs", func(t *testing.T) {
		target := Start(t, launched(specOf(t, l)))
		assert.Equal(t, target.Model, l.Model)
		assert.Assert(t, target.Config["server-version"] != "", "%v", target.Config)
		before := predictedTokens(t, target)
		requested := 0
		observer := target.Observe()
		for range 2 {
			assert.NilError(t, observer.Before(t.Context())) // this empties the slots
			for _, tokens := range []int{1, 24, 200} {
				s := llamatest.Ask(t, target, tokens)
				requested += tokens
				assert.Equal(t, s.CachedTokens > 0, tokens > 1, "only the first prompt of a pass is not in the cache; %d cached tokens", s.CachedTokens)
			}
			_, err := observer.After(t.Context())
			assert.NilError(t, err)
		}
		assert.Equal(t, predictedTokens(t, target)-before, requested, "the server's own metrics")
	})
	nothingLeft(t)
}

// predictedTokens returns the number of tokens that the server has generated,
// according to its metrics.
func predictedTokens(t *testing.T, target llmbench.Target) int {
	t.Helper()
	body, err := probe.Server{Target: target}.Get(t.Context(), "/metrics")
	assert.NilError(t, err)
	for line := range strings.Lines(string(body)) {
		if value, found := strings.CutPrefix(line, "llamacpp:tokens_predicted_total "); found {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			assert.NilError(t, err)
			return n
		}
	}
	t.Fatalf("no llamacpp:tokens_predicted_total in:\n%s", body)
	return 0
}

// TestBrokenLlamaCPP checks the errors of a real server that cannot start.
func TestBrokenLlamaCPP(t *testing.T) {
	t.Parallel()
	l := llama(t)
	assert.NilError(t, os.WriteFile(filepath.Join(l.ModelsDir, "broken.gguf"), []byte("GGUF, but no more"), 0o644))
	with := func(change func(*backends.LlamaCPP)) backends.LlamaCPP {
		l := l
		change(&l)
		return l
	}
	testFailures(t, []failureCase{
		{"the model is missing", with(func(l *backends.LlamaCPP) { l.Model = "nosuch.gguf" }),
			[]string{`llamacpp: model "nosuch.gguf" is not in the folder of models ` + l.ModelsDir + ", which has: broken.gguf, tiny-"}},
		{"the model is broken", with(func(l *backends.LlamaCPP) { l.Model = "broken.gguf" }),
			[]string{"llamacpp: ", "what to do: the model cannot be loaded: check that Model is a whole GGUF file", "last lines of its log:\n    ", "broken.gguf"}},
		{"an argument of another version", with(func(l *backends.LlamaCPP) { l.Args = []string{"--no-such-argument"} }),
			[]string{"what to do: this version of the server does not know an argument: check Args", "--no-such-argument"}},
		{"killed for lack of memory", with(func(l *backends.LlamaCPP) { l.Memory, l.Context = 24<<20, 1<<20 }),
			[]string{"llamacpp: ", "the container was killed for lack of memory (OOM)"}},
	})
}

// TestColdStartInContainer runs BenchmarkColdStart in a separate process.
func TestColdStartInContainer(t *testing.T) {
	t.Parallel()
	l := llama(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, scenariostest.Program(t), "-test.run=^$", "-test.bench=ColdStart", "-test.benchtime=2x")
	cmd.Env = append(os.Environ(), "LLMBENCH_BACKEND=llamacpp", "LLMBENCH_IMAGE="+l.Image, "LLMBENCH_MODELS_DIR="+l.ModelsDir,
		"LLMBENCH_MODEL="+l.Model, "LLMBENCH_ARGS=-t 1", "LLMBENCH_CLIENT_BOUND=report")
	text, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", text)
	r := benchfmt.NewReader(strings.NewReader(string(text)), "output")
	rows := 0
	for r.Scan() {
		if rec, is := r.Result().(*benchfmt.Result); is {
			rows++
			ready, _ := rec.Value("start-to-ready-sec")
			first, _ := rec.Value("start-to-first-token-sec")
			assert.Assert(t, 0 < ready && ready < first, "%s", text)
			assert.Equal(t, rec.Iters, 2)
			assert.Equal(t, rec.GetConfig("image"), l.Image)
		}
	}
	assert.Equal(t, rows, 1, "%s", text)
}

// TestChatInContainer runs the streams of BenchmarkChat in a separate process, against a real
// llama.cpp in a container. It compares the records with the server's own timings.
func TestChatInContainer(t *testing.T) {
	t.Parallel()
	l := llama(t)
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, scenariostest.Program(t), "-test.run=^$", "-test.bench=Chat/backend/model/workload/stream=true", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), "LLMBENCH_BACKEND=llamacpp", "LLMBENCH_IMAGE="+l.Image, "LLMBENCH_MODELS_DIR="+l.ModelsDir,
		"LLMBENCH_MODEL="+l.Model, "LLMBENCH_ARGS=-t 1 -np 4 -c 16384", "LLMBENCH_OUT="+out, "LLMBENCH_CLIENT_BOUND=report")
	text, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", text)
	r := benchfmt.NewReader(strings.NewReader(string(text)), "output")
	rows := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v in:\n%s", rec, text)
		case *benchfmt.Result:
			rows++
			tokens, _ := rec.Value("out-tok/req")
			assert.Equal(t, tokens, 200.0, "%s", rec.Name)
			for key, want := range map[string]string{"backend": "llamacpp", "model": l.Model, "image": l.Image} {
				assert.Equal(t, rec.GetConfig(key), want)
			}
			assert.Assert(t, strings.HasSuffix(rec.GetConfig("command"), " -t 1 -np 4 -c 16384"), rec.GetConfig("command"))
			for _, key := range []string{"server-version", "image-digest", "network"} {
				assert.Assert(t, rec.GetConfig(key) != "", "no %s in:\n%s", key, text)
			}
		}
	}
	assert.Equal(t, rows, 2, "%s", text)

	files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 2)
	compared := 0
	for _, f := range files {
		compared += compareTimings(t, f)
	}
	assert.Equal(t, compared, 8+24)
	logs, err := filepath.Glob(filepath.Join(out, "llamacpp-*.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(logs), 1)
}

// compareTimings checks that no duration that the server measured is longer than the one that the
// client measured. It returns the number of requests.
func compareTimings(t *testing.T, file string) (n int) {
	t.Helper()
	f, err := os.Open(file)
	assert.NilError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the header
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"end":`)) {
			assert.Assert(t, bytes.HasPrefix(lines.Bytes(), []byte(`{"end":{"outcome":"ok",`)), "%s", lines.Bytes())
			continue
		}
		var rec struct {
			Start        time.Duration `json:"start_ns"`
			End          time.Duration `json:"end_ns"`
			PromptTokens int           `json:"prompt_tokens"`
			OutputTokens int           `json:"output_tokens"`
			TokenSource  string        `json:"token_source"`
			Outcome      string        `json:"outcome"`
			Server       struct {
				Prompt       time.Duration `json:"prompt_ns"`
				Predict      time.Duration `json:"predict_ns"`
				PromptTokens int           `json:"prompt_tokens"`
				CachedTokens int           `json:"cached_tokens"`
				OutputTokens int           `json:"output_tokens"`
			} `json:"server"`
		}
		assert.NilError(t, json.Unmarshal(lines.Bytes(), &rec))
		assert.Equal(t, rec.Outcome, "ok")
		assert.Equal(t, rec.TokenSource, "usage")
		assert.Equal(t, rec.OutputTokens, 200)
		assert.Equal(t, rec.Server.OutputTokens, 200)
		assert.Equal(t, rec.Server.PromptTokens+rec.Server.CachedTokens, rec.PromptTokens)
		own, seen := rec.Server.Prompt+rec.Server.Predict, rec.End-rec.Start
		assert.Assert(t, own > 0 && own <= seen, "the server took %v for a request that the client waited %v for", own, seen)
		n++
	}
	return n
}
