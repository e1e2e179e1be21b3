package scenarios

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestServeDatasets measures the mock under each kind of data set, as
// BenchmarkServe does: the prompts that were meant to be sent came, token for
// token, and answers have the lengths that were asked for.
func TestServeDatasets(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime").Value
	defer benchtime.Set(benchtime.String())
	assert.NilError(t, benchtime.Set("1x")) // one pass
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
			c, err := parseConfig([]string{"LLMBENCH_DATASET=" + spec, "LLMBENCH_REQUESTS=12", "LLMBENCH_WARMUP=1"})
			assert.NilError(t, err)
			srv, target := backends.Mock{Config: &mockserver.Config{}}.Serve(t)
			s := server{cfg: c, target: target, tokens: tokenizer.Words{}}
			w, err := s.dataset(0)
			assert.NilError(t, err)
			trace, isTrace := w.(benchdata.Trace)
			assert.Equal(t, isTrace, kind.Trace)
			testing.Benchmark(func(b *testing.B) {
				if isTrace {
					s.replay(b, trace)
					return
				}
				l := s.load(b, 16, 2)
				l.Concurrency = 2
				s.run(b, l)
			})
			log := srv.Log()
			assert.Assert(t, len(log) > 2, "%d requests came", len(log))
			for _, e := range log {
				assert.Equal(t, e.Status, 200)
				assert.Assert(t, e.OutputTokens > 0)
			}
			if !kind.Trace && !strings.Contains(kind.Name, "prefix") && kind.Name != "random" {
				return // another seed has other lengths
			}
			requests, err := w.Requests(12)
			assert.NilError(t, err)
			asked, came := map[int]int{}, map[int]int{} // how many of each length
			for _, r := range requests {
				asked[r.PromptTokens]++
			}
			for _, e := range log[1:] { // after the warm-up
				came[e.PromptTokens]++
			}
			assert.DeepEqual(t, came, asked)
		})
	}
}

// TestServeDatasetErrors: what cannot be used is told with what can.
func TestServeDatasetErrors(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"LLMBENCH_DATASET=nothing:x", `LLMBENCH_DATASET: dataset "nothing:x": want one of random, `},
		{"LLMBENCH_DATASET=sharegpt:", `LLMBENCH_DATASET: dataset "sharegpt:": want the path of a file`},
		{"LLMBENCH_DATASET=sharegpt:x LLMBENCH_INPUT=5", "an input of 5 tokens, but its prompts have lengths of their own"},
		{"LLMBENCH_DATASET=azure:x LLMBENCH_OUTPUT=5", "an output of 5 tokens, which the trace says itself"},
	} {
		c, err := parseConfig(strings.Fields(tt.env))
		assert.NilError(t, err)
		_, err = server{cfg: c}.dataset(1)
		assert.ErrorContains(t, err, tt.want)
	}
}

// TestServeFewerRequests: a data set that has fewer requests than were asked for
// says so, once a benchmark, and one that has enough says nothing.
func TestServeFewerRequests(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, tt := range []struct{ dataset, want string }{
		{"prefix-repetition?prefixes=7&prefix=5&suffix=5", "asked for 16 requests, the data set has 14"},
		{"openqa:../benchdata/testdata/kinds/openqa.jsonl?repeat=false", "asked for 16 requests, the data set has "},
		{"azure:../benchdata/testdata/kinds/azure.csv?speed=1000", "asked for 16 requests, the data set has "},
		{"openqa:../benchdata/testdata/kinds/openqa.jsonl", ""},
	} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^$", "-test.bench=^BenchmarkServe$", "-test.benchtime=2x")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
		cmd.Env = append(cmd.Env, "LLMBENCH_DATASET="+tt.dataset, "LLMBENCH_REQUESTS=16", "LLMBENCH_MOCK_SPEED=1000")
		if !strings.HasPrefix(tt.dataset, "azure") {
			cmd.Env = append(cmd.Env, "LLMBENCH_CONCURRENCY=2")
		}
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Equal(t, strings.Count(string(out), "asked for 16 requests"), min(len(tt.want), 1), "%s: %s", tt.dataset, out)
		assert.Assert(t, strings.Contains(string(out), tt.want), "%s: %s", tt.dataset, out)
	}
}

// TestTokenizerIsAsked: a server with /tokenize is asked, one without is estimated.
func TestTokenizerIsAsked(t *testing.T) {
	srv, target := backends.Mock{Config: &mockserver.Config{}}.Serve(t)
	url := backends.Named{Name: "url", Backend: backends.URL{URL: target.URL}}
	tok, template, err := newTokenizer(t.Context(), config{}, url, target)
	assert.NilError(t, err)
	_, asked := tok.(*tokenizer.Server)
	assert.Assert(t, asked, "%T", tok)
	assert.Equal(t, template, 0)
	assert.Equal(t, tok.Count("one two three"), 3)

	without := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tokenize" {
			http.NotFound(w, r)
			return
		}
		srv.ServeHTTP(w, r)
	}))
	defer without.Close()
	target.URL = without.URL
	tok, _, err = newTokenizer(t.Context(), config{}, url, target)
	assert.NilError(t, err)
	_, estimated := tok.(tokenizer.Estimate)
	assert.Assert(t, estimated, "%T", tok)
}
