package backends_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
)

// TestSaltOnRealServer measures one real llama-server from several processes. The server must find
// only the chat template in its cache, except if a process uses the same salt as an earlier one.
// The numbers of tokens and the configuration lines must not depend on the salt.
func TestSaltOnRealServer(t *testing.T) {
	t.Parallel()
	url := llamatest.Start(t, llamatest.Options{Parallel: 4, Context: 1024})
	dir := t.TempDir()
	scenarios := scenariostest.Program(t)
	for dataset, literal := range map[string]bool{"random": false, "openqa:" + writeQuestions(t, dir): true} {
		process := func(env ...string) (results []*benchfmt.Result, salt string) {
			t.Helper()
			out := run(t, append(env, "LLMBENCH_URL="+url, "LLMBENCH_NAME=llamacpp", "LLMBENCH_MODEL=tiny", "LLMBENCH_DATASET="+dataset,
				"LLMBENCH_REQUESTS=10", "LLMBENCH_CONCURRENCY=1,2", "LLMBENCH_OUTPUT=8",
				"LLMBENCH_CLIENT_BOUND=report"), // the client shares its CPU cores with the server and with other tests
				scenarios, "-test.run=^$", "-test.bench=^BenchmarkServe$", "-test.benchtime=1x")
			results = resultsOf(t, out)
			assert.Equal(t, len(results), 2, "%s", out)
			if found := regexp.MustCompile(`(?m)^# LLMBENCH_SALT=(\d+) `).FindStringSubmatch(out); found != nil {
				salt = found[1]
			}
			return results, salt
		}
		check := func(what string, r *benchfmt.Result, least, most float64) {
			t.Helper()
			cached, _ := r.Value("cached-%")
			assert.Assert(t, least <= cached && cached <= most, "%s, %s, %s: %.3g%% of the prompts' tokens were in the cache, want from %g to %g", dataset, what, r.Name, cached, least, most)
		}
		first, salt := process()
		second, other := process()
		again, same := process("LLMBENCH_SALT=" + salt)
		assert.Assert(t, salt != "" && other != "" && salt != other && salt == same, "salts %q, %q, and %q again", salt, other, same)
		for i := range first {
			check("first process", first[i], 0, 10)
			check("second process", second[i], 0, 10)
			check("the first again", again[i], 90, 100)
			for _, r := range []*benchfmt.Result{second[i], again[i]} {
				assert.DeepEqual(t, r.Config, first[i].Config)
				assert.Equal(t, tokensOf(r), tokensOf(first[i]))
			}
		}
		if !literal {
			continue
		}
		without, none := process("LLMBENCH_SALT=0")
		assert.Equal(t, none, "")
		check("the second concurrency without a salt", without[1], 90, 100) // the same questions as before
		assert.Equal(t, tokensOf(without[1]), tokensOf(first[1]))
	}
}

// tokensOf returns the mean numbers of tokens of the prompts and of the answers of a result.
func tokensOf(r *benchfmt.Result) string {
	in, _ := r.Value("in-tok/req")
	out, _ := r.Value("out-tok/req")
	return fmt.Sprint(in, out)
}

// resultsOf returns the results in the output of a benchmark.
func resultsOf(t *testing.T, out string) (all []*benchfmt.Result) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(out), "output")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatalf("%v in:\n%s", rec, out)
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		}
	}
	return all
}

// writeQuestions writes ten different questions to a file, and returns its path.
func writeQuestions(t *testing.T, dir string) string {
	t.Helper()
	questions := []string{
		"为什么海水是咸的而河水不是，海水里的盐是从哪里来的，请解释一下，海水里的盐会不会越来越多？",
		"请问世界上最高的山叫什么名字，它有多高，谁最先登上了它的山顶，那一年是哪一年？",
	}
	words := strings.Fields("the harbour was built in three parts by people who came from the north and who had never seen the sea before they built it")
	for i := range 8 {
		questions = append(questions, fmt.Sprintf("%s %s: what does part %d show?", strings.Join(words[i:], " "), strings.Join(words[:i], " "), i))
	}
	var file strings.Builder
	for _, q := range questions {
		line, err := json.Marshal(map[string]string{"question": q})
		assert.NilError(t, err)
		fmt.Fprintf(&file, "%s\n", line)
	}
	path := filepath.Join(dir, "questions.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(file.String()), 0o666))
	return path
}
