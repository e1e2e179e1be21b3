package scenarios

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
)

// readme returns the README of a folder in the repository.
func readme(t *testing.T, folder string) string { return document(t, folder+"/README.md") }

// document returns the text of a file in the repository.
func document(t *testing.T, file string) string {
	text, err := os.ReadFile(filepath.Join("..", file))
	assert.NilError(t, err)
	return string(text)
}

// TestReadmeBackends checks that llmbench/VARIABLES.md names every backend.
func TestReadmeBackends(t *testing.T) {
	_, row, _ := strings.Cut(document(t, "llmbench/VARIABLES.md"), "| `LLMBENCH_BACKEND` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, name := range backends.Names() {
		assert.Assert(t, strings.Contains(row, "`"+name+"`"), "llmbench/VARIABLES.md does not name %s", name)
	}
}

// TestReadmeDatasets checks that llmbench/VARIABLES.md names every kind of data set.
func TestReadmeDatasets(t *testing.T) {
	_, row, _ := strings.Cut(document(t, "llmbench/VARIABLES.md"), "| `LLMBENCH_DATASET` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, kind := range benchdata.Kinds() {
		assert.Assert(t, strings.Contains(row, "`"+kind.Name+"`"), "llmbench/VARIABLES.md does not name %s", kind.Name)
	}
}

// TestReadmeScenarios checks that scenarios/README.md describes every scenario.
func TestReadmeScenarios(t *testing.T) {
	text := readme(t, "scenarios")
	names := []string{"ColdStart"}
	for _, sc := range Scenarios() {
		names = append(names, sc.Name)
	}
	for _, name := range names {
		assert.Equal(t, strings.Count(text, "\n| `"+name+"` | "), 1, "rows of %s in the tables of scenarios/README.md", name)
	}
}

// TestReadmeExperiment runs the two commands with which scenarios/README.md repeats a published
// experiment. The server is 1,000 times as fast as the real one. Every row that benchstat shows
// must have a published value and a value of this run.
func TestReadmeExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	text := readme(t, "scenarios")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bench := commandAfter(t, text, "\n    $ LLMBENCH_FULL=D11 LLMBENCH_MOCK=vllm-qwen2-7b-t4 go test ")
	self, err := os.Executable()
	assert.NilError(t, err)
	var args []string
	for _, arg := range bench {
		if arg, isFlag := strings.CutPrefix(arg, "-"); isFlag {
			args = append(args, "-test."+arg)
		}
	}
	run := exec.CommandContext(ctx, self, args...)
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
	run.Env = append(run.Env, "LLMBENCH_FULL=D11", "LLMBENCH_MOCK=vllm-qwen2-7b-t4,speed=1000", "LLMBENCH_CLIENT_BOUND=report")
	results, err := run.CombinedOutput()
	assert.NilError(t, err, "%s", results)
	file := filepath.Join(t.TempDir(), "mine.txt")
	assert.NilError(t, os.WriteFile(file, results, 0o666))

	args = commandAfter(t, text, "\n    $ go tool benchstat ")
	assert.Equal(t, args[len(args)-1], "mine.txt")
	args[len(args)-1] += "=" + file
	compare := exec.CommandContext(ctx, "go", append([]string{"tool", "benchstat"}, args...)...)
	compare.Dir = ".."
	var stderr strings.Builder
	compare.Stderr = &stderr
	tables, err := compare.Output()
	assert.NilError(t, err, "%s", stderr.String())
	assert.Equal(t, stderr.String(), "")
	for _, row := range []string{"16 ", "32 ", "64 ", "128 ", "400 "} {
		shown := 0
		for line := range strings.Lines(string(tables)) {
			if strings.HasPrefix(line, row) && strings.Count(line, "±") == 2 {
				shown++
			}
		}
		assert.Equal(t, shown, 2, "rows of concurrency %swith two figures in\n%s", row, tables) // one value of req/s and one of fail-%
	}
}

// commandAfter returns the arguments of the command in text that begins with prefix.
func commandAfter(t *testing.T, text, prefix string) []string {
	t.Helper()
	_, line, found := strings.Cut(text, prefix)
	assert.Assert(t, found, "no command begins with %q", prefix)
	line, _, _ = strings.Cut(line, "\n")
	line, _, _ = strings.Cut(line, " >")
	args, err := shellquote.Split(line)
	assert.NilError(t, err)
	return args
}

// TestReadmeExample runs the first Go file in README.md, and the one in AGENTS.md, as packages of this module. The packages
// exist only in an overlay.
func TestReadmeExample(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for _, file := range []string{"README.md", "AGENTS.md"} {
		t.Run(file, func(t *testing.T) { runExample(t, file) })
	}
}

// runExample runs the first Go file in a document.
func runExample(t *testing.T, name string) {
	_, code, _ := strings.Cut(document(t, name), "```go\n")
	code, _, found := strings.Cut(code, "```")
	assert.Assert(t, found, "%s has no Go code", name)
	dir := t.TempDir()
	file := filepath.Join(dir, "serving_test.go")
	assert.NilError(t, os.WriteFile(file, []byte(code), 0o666))
	here, err := filepath.Abs("readmeexample/serving_test.go")
	assert.NilError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: file}})
	assert.NilError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	assert.NilError(t, os.WriteFile(overlayFile, overlay, 0o666))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	binary := filepath.Join(dir, "serving.test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay="+overlayFile, "-o", binary, "./readmeexample").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	run := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x")
	run.Env = append(os.Environ(), "LLMBENCH_CLIENT_BOUND=report")
	out, err = run.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	assert.Assert(t, regexp.MustCompile(`BenchmarkServing/\S*concurrency=8`).Match(out), "%s", out)
	assert.Assert(t, strings.Contains(string(out), "64.00 out-tok/req"), "%s", out)
}
