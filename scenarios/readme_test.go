package scenarios

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
)

// readme returns the README of a folder of the repository.
func readme(t *testing.T, folder string) string {
	text, err := os.ReadFile(filepath.Join("..", folder, "README.md"))
	assert.NilError(t, err)
	return string(text)
}

// TestReadmeBackends checks that llmbench/README.md names every backend.
func TestReadmeBackends(t *testing.T) {
	_, row, _ := strings.Cut(readme(t, "llmbench"), "| `LLMBENCH_BACKEND` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, name := range backends.Names() {
		assert.Assert(t, strings.Contains(row, "`"+name+"`"), "llmbench/README.md does not name %s", name)
	}
}

// TestReadmeDatasets checks that llmbench/README.md names every kind of data set.
func TestReadmeDatasets(t *testing.T) {
	_, row, _ := strings.Cut(readme(t, "llmbench"), "| `LLMBENCH_DATASET` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, kind := range benchdata.Kinds() {
		assert.Assert(t, strings.Contains(row, "`"+kind.Name+"`"), "llmbench/README.md does not name %s", kind.Name)
	}
}

// TestReadmePublished runs the comparison in scenarios/README.md of a published experiment with
// results of ours, and checks what it shows.
func TestReadmePublished(t *testing.T) {
	_, block, found := strings.Cut(readme(t, "scenarios"), "\n    $ go tool benchstat -filter 'experiment:")
	assert.Assert(t, found, "scenarios/README.md has no such comparison")
	arguments, block, _ := strings.Cut("-filter 'experiment:"+block, "\n")
	block, _, _ = strings.Cut(block, "\n\nEach figure is one sample")
	args, err := shellquote.Split(arguments)
	assert.NilError(t, err)
	last := &args[len(args)-1]
	assert.Equal(t, *last, "mine.txt")
	*last += "=scenarios/testdata/mine.txt"
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "benchstat"}, args...)...)
	cmd.Dir = ".."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	assert.NilError(t, err, "%s", stderr.String())
	assert.Equal(t, stderr.String(), "")
	var want strings.Builder
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight("    "+line, " \n"); line != "" {
			want.WriteString(line)
		}
		want.WriteString("\n")
	}
	assert.Equal(t, block+"\n", want.String())
}

// TestReadmeExample runs README's benchmark file as a package of this module
// that is on no disk.
func TestReadmeExample(t *testing.T) {
	_, code, _ := strings.Cut(readme(t, "."), "```go\n")
	code, _, found := strings.Cut(code, "```")
	assert.Assert(t, found, "README has no Go code")
	dir := t.TempDir()
	file := filepath.Join(dir, "serving_test.go")
	assert.NilError(t, os.WriteFile(file, []byte(code), 0o666))
	here, err := filepath.Abs("readmeexample/serving_test.go")
	assert.NilError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: file}})
	assert.NilError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	assert.NilError(t, os.WriteFile(overlayFile, overlay, 0o666))

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	binary := filepath.Join(dir, "serving.test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay="+overlayFile, "-o", binary, "./readmeexample").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	out, err = exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	assert.Assert(t, strings.Contains(string(out), "BenchmarkServing/concurrency=8"), "%s", out)
	assert.Assert(t, strings.Contains(string(out), "64.00 out-tok/req"), "%s", out)
}
