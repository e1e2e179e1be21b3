package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFoldersOfLLMBench checks that folders in which each file is the output of one run are judged, as README.md has it:
// the files that llmbench wrote, and the output of go test for any other benchmark.
func TestFoldersOfLLMBench(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the scenarios and runs them twelve times")
	}
	binary := filepath.Join(t.TempDir(), "scenarios.test")
	text, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "../../../scenarios").CombinedOutput()
	assert.NilError(t, err, "%s", text)
	var sides [2]string
	for i := range sides {
		sides[i] = t.TempDir()
		for run := range 6 {
			cmd := exec.CommandContext(t.Context(), binary, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=4", "LLMBENCH_WARMUP=1", "LLMBENCH_INPUT=16", "LLMBENCH_OUTPUT=20", "LLMBENCH_CLIENT_BOUND=report")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			assert.NilError(t, err, "%s%s", out, stderr.String())
			assert.NilError(t, os.WriteFile(filepath.Join(sides[i], fmt.Sprintf("%d.txt", run)), out, 0o600))
		}
	}
	// The machine may be busy, so the margins are wide.
	units := filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit output-tok/s better=higher gate=90%\nUnit p50-ttft-ns better=lower gate=99%\nUnit mean-tpot-ns better=lower gate=99%\n"), 0o600))
	status, out := gateFiles("-units", units, sides[0], sides[1])
	assert.Assert(t, !strings.Contains(out, "another run starts here"), "%s", out)
	assert.Equal(t, status, 0, "%s", out)
}

// writeRuns writes n files in a new folder, each the output of go test for one benchmark, and returns the folder.
func writeRuns(t *testing.T, n int, time float64) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("goos: linux\ngoarch: amd64\npkg: p\ncpu: c\nBenchmarkA-8   \t     100\t      %.0f ns/op\t      16 B/op\t       1 allocs/op\nPASS\nok  \tp\t1.2s\n", time+float64(i%3))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(text), 0o600))
	}
	return dir
}

func TestFoldersOfGoTest(t *testing.T) {
	units := filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit ns/op gate=5%\n"), 0o600))
	old := writeRuns(t, 8, 1000)
	status, out := gateFiles("-units", units, old, writeRuns(t, 8, 1001))
	assert.Equal(t, status, 0, "%s", out)
	status, out = gateFiles("-units", units, old, writeRuns(t, 8, 1200))
	assert.Equal(t, status, exitRegression, "%s", out)
}
