package scenarios

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// parse returns the configuration that an environment describes.
func parse(t *testing.T, environ ...string) config {
	t.Helper()
	c, err := parseConfig(environ)
	assert.NilError(t, err)
	return c
}

// onePass runs a benchmark for one pass.
func onePass(t *testing.T, f func(b *testing.B)) testing.BenchmarkResult {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime").Value
	defer benchtime.Set(benchtime.String())
	assert.NilError(t, benchtime.Set("1x"))
	return testing.Benchmark(f)
}

// TestServeDatasets measures the simulated server with each kind of data set, as Serve does. The
// server must receive exactly the prompts of the data set, and its answers must have the lengths
// that were requested.
func TestServeDatasets(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for _, kind := range benchdata.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			spec := kind.Name
			if kind.Path == "PATH" {
				files, err := filepath.Glob("../benchdata/testdata/kinds/" + kind.Name + ".*")
				assert.NilError(t, err)
				assert.Equal(t, len(files), 1)
				spec += ":" + files[0]
			}
			if kind.Trace {
				spec += "?speed=1000"
			}
			o, err := prepareServe(Options{Dataset: spec, Requests: 12, Warmup: 1, Seed: 1}, parse(t))
			assert.NilError(t, err)
			srv, target := backends.Mock{Config: &mockserver.Config{}}.Serve(t)
			s := server{options: o, target: target, counter: counter{tokens: tokenizer.Words{}}}
			w, err := s.dataset(0, 0)
			assert.NilError(t, err)
			trace, isTrace := w.(benchdata.Trace)
			assert.Equal(t, isTrace, kind.Trace)
			onePass(t, func(b *testing.B) {
				if isTrace {
					s.serveTrace(b, trace)
					return
				}
				s.run(b, s.serveLoad(b, llmbench.Load{Concurrency: 2}, s.requests(16), 2))
			})
			log := slices.DeleteFunc(srv.Log(), func(e mockserver.Entry) bool { return strings.Contains(e.ID, "-cache-") }) // without the requests that control the prefix cache
			assert.Assert(t, len(log) > 2, "the server received %d requests", len(log))
			for _, e := range log {
				assert.Equal(t, e.Status, 200)
				assert.Assert(t, e.OutputTokens > 0)
			}
			if !kind.Trace && !strings.Contains(kind.Name, "prefix") && kind.Name != "random" {
				return // the lengths depend on the seed
			}
			requests, err := w.Requests(12)
			assert.NilError(t, err)
			sent, received := map[int]int{}, map[int]int{} // the number of requests of each length
			for _, r := range requests {
				sent[r.PromptTokens]++
			}
			for _, e := range log[1:] { // the first request is the warm-up
				received[e.PromptTokens]++
			}
			assert.DeepEqual(t, received, sent)
		})
	}
}

// TestServeDatasetErrors checks that errors say which values are allowed.
func TestServeDatasetErrors(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"LLMBENCH_DATASET=nothing:x", `LLMBENCH_DATASET: dataset "nothing:x": want one of random, `},
		{"LLMBENCH_DATASET=sharegpt:", `LLMBENCH_DATASET: dataset "sharegpt:": want the path of a file`},
		{"LLMBENCH_DATASET=sharegpt:x LLMBENCH_INPUT=5", "an input of 5 tokens, but the lengths of its prompts are fixed"},
		{"LLMBENCH_DATASET=azure:x LLMBENCH_OUTPUT=5", "an output of 5 tokens, but the lengths of a trace are fixed"},
	} {
		_, err := prepareServe(Options{}.withEnvironment(parse(t, strings.Fields(tt.env)...)), config{})
		assert.ErrorContains(t, err, tt.want)
	}
}

// TestServeFewerRequests checks a data set that has fewer requests than the benchmark wants. The
// benchmark must log this once. If the data set has enough requests, it must log nothing of this
// kind.
func TestServeFewerRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, tt := range []struct{ dataset, want string }{
		{"prefix-repetition?prefixes=7&prefix=5&suffix=5", "asked for 16 requests, the data set has 14"},
		{"openqa:../benchdata/testdata/kinds/openqa.jsonl?repeat=false", "asked for 16 requests, the data set has "},
		{"azure:../benchdata/testdata/kinds/azure.csv?speed=1000", "asked for 16 requests, the data set has "},
		{"openqa:../benchdata/testdata/kinds/openqa.jsonl", ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=^BenchmarkServe$", "-test.benchtime=2x")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
		cmd.Env = append(cmd.Env, "LLMBENCH_DATASET="+tt.dataset, "LLMBENCH_REQUESTS=16", "LLMBENCH_MOCK=speed=1000", "LLMBENCH_CLIENT_BOUND=report")
		if !strings.HasPrefix(tt.dataset, "azure") {
			cmd.Env = append(cmd.Env, "LLMBENCH_CONCURRENCY=2")
		}
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Equal(t, strings.Count(string(out), "asked for 16 requests"), min(len(tt.want), 1), "%s: %s", tt.dataset, out)
		assert.Assert(t, strings.Contains(string(out), tt.want), "%s: %s", tt.dataset, out)
	}
}

// TestServeTemplate checks that, for prompts from a file, the intended length includes the tokens
// that the server adds.
func TestServeTemplate(t *testing.T) {
	for _, dataset := range []string{
		"openqa:../benchdata/testdata/kinds/openqa.jsonl",
		"sharegpt:../benchdata/testdata/kinds/sharegpt.json",
		"openai:../benchdata/testdata/kinds/openai.jsonl",
	} {
		t.Run(dataset, func(t *testing.T) {
			s := server{options: Options{Dataset: dataset}, counter: counter{tokens: tokenizer.Words{}}}
			bare, err := s.drawDataset(2, 1, 0)
			assert.NilError(t, err)
			s.template = 7
			templated, err := s.drawDataset(2, 1, 0)
			assert.NilError(t, err)
			for i, r := range templated {
				assert.Equal(t, r.PromptTokens, bare[i].PromptTokens+7)
			}
		})
	}
}

// TestDrawnLengths checks that all loads and all passes have the same lengths, which depend on the seed in the options, and
// other words.
func TestDrawnLengths(t *testing.T) {
	draw := func(o Options, seed, salt uint64) (lengths [][2]int, words string) {
		s := server{options: o, counter: counter{tokens: tokenizer.Words{}}}
		requests, err := s.drawDataset(50, seed, salt)
		assert.NilError(t, err)
		for _, r := range requests {
			lengths = append(lengths, [2]int{r.PromptTokens, r.MaxTokens})
		}
		return lengths, requests[0].Prompt
	}
	for _, dataset := range []string{"random?input=lognormal(30,0.6)&output=normal(9,2)", "markov?order=2&input=lognormal(30,0.6)&output=normal(9,2)", "random-vllm?input=30&output=9&ratio=0.5", "random-sglang?input=30&output=9"} {
		o := Options{Dataset: dataset, Seed: 1}
		first, words := draw(o, 7, 0)
		for _, other := range []struct{ seed, salt uint64 }{{8, 0}, {7, 5}, {9, 5}} {
			lengths, others := draw(o, other.seed, other.salt)
			assert.DeepEqual(t, lengths, first)
			assert.Assert(t, others != words)
		}
		o.Seed++
		lengths, _ := draw(o, 7, 0)
		assert.Assert(t, !slices.Equal(lengths, first))
	}
}
