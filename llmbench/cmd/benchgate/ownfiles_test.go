package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"gotest.tools/v3/assert"
)

// TestFoldersOfLLMBench checks that folders in which each file is what llmbench wrote in one run can be judged, as README.md
// has it.
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
	// On a busy machine the figures may be too noisy, or be withheld. The test is about the files.
	var stdout, stderr bytes.Buffer
	status := run([]string{"-format=json", sides[0], sides[1]}, &stdout, &stderr)
	var report gate.Report
	assert.NilError(t, json.Unmarshal(stdout.Bytes(), &report), "%d: %s", status, &stderr)
	assert.Equal(t, report.Samples, 6)
	for _, p := range report.Problems {
		assert.Assert(t, p.Name != "", "%v", p) // a problem without a name is about a file
	}
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

// TestFoldersOfGoTest checks the same for the output of go test.
func TestFoldersOfGoTest(t *testing.T) {
	units := filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit ns/op gate=5%\n"), 0o600))
	old := writeRuns(t, 8, 1000)
	status, out := gateFiles("-units", units, old, writeRuns(t, 8, 1001))
	assert.Equal(t, status, 0, "%s", out)
	status, out = gateFiles("-units", units, old, writeRuns(t, 8, 1200))
	assert.Equal(t, status, command.Regression, "%s", out)
}

// TestEncodings checks that files are read as PowerShell and editors on Windows write them: UTF-16, and UTF-8 with a byte
// order mark.
func TestEncodings(t *testing.T) {
	units := filepath.Join(t.TempDir(), "units.txt")
	assert.NilError(t, os.WriteFile(units, []byte("Unit ns/op gate=5%\n"), 0o600))
	for name, encode := range map[string]func(string) ([]byte, error){
		"UTF-16LE":  func(s string) ([]byte, error) { return utf16(unicode.LittleEndian).NewEncoder().Bytes([]byte(s)) },
		"UTF-16BE":  func(s string) ([]byte, error) { return utf16(unicode.BigEndian).NewEncoder().Bytes([]byte(s)) },
		"UTF-8 BOM": func(s string) ([]byte, error) { return []byte("\uFEFF" + s), nil },
	} {
		encoded := func(dir string) string {
			assert.NilError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				assert.NilError(t, err)
				text, err = encode(string(text))
				assert.NilError(t, err)
				return os.WriteFile(path, text, 0o600)
			}))
			return dir
		}
		status, out := gateFiles("-units", units, writeRuns(t, 8, 1000), encoded(writeRuns(t, 8, 1001)))
		assert.Equal(t, status, 0, "%s: %s", name, out)
		status, out = gateFiles("-units", units, encoded(writeRuns(t, 8, 1000)), writeRuns(t, 8, 1200))
		assert.Equal(t, status, command.Regression, "%s: %s", name, out)
		status, out = gateFiles(encoded(writeSide(t, "vllm.json", 6, 0)), writeSide(t, "vllm.json", 6, 0.05))
		assert.Equal(t, status, command.Regression, "%s: %s", name, out)
		status, out = gateFiles(encoded(writeSide(t, "aiperf.csv", 6, 0)), writeSide(t, "aiperf.csv", 6, 0))
		assert.Equal(t, status, 0, "%s: %s", name, out)
	}
}

func utf16(e unicode.Endianness) encoding.Encoding { return unicode.UTF16(e, unicode.UseBOM) }
