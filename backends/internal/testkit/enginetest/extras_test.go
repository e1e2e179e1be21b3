//go:build unix

package enginetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// checkProcess lets the benchmark start the engine, with so little KV cache that it preempts requests, if it can be told
// so. The engine has ended when the benchmark has.
func checkProcess(t *testing.T, c contract) {
	command, err := c.Command(t.Context(), t.TempDir(), c.Scarce...)
	assert.NilError(t, err)
	m := c.measure(t, "Serve", "LLMBENCH_URL=", "LLMBENCH_API_KEY=", "LLMBENCH_BACKEND=process", "LLMBENCH_COMMAND="+command, "LLMBENCH_READY=10m",
		"LLMBENCH_CONCURRENCY=8", "LLMBENCH_REQUESTS=16", "LLMBENCH_INPUT=200", "LLMBENCH_OUTPUT=100")
	assert.NilError(t, m.err, "%s", m.out)
	assert.Equal(t, m.value(t, "out-tok/req"), 100.0)
	t.Logf("%.3f srv-cpu-s/ktok", m.value(t, "srv-cpu-s/ktok"))
	if c.Scarce != nil {
		preempted := m.value(t, "srv-preempt/op")
		t.Logf("%.0f preemptions", preempted)
		assert.Assert(t, preempted > 0)
	}
}

// checkOwnBenchmark runs the engine's own benchmark and ours with the same load. The engine's result file is read by
// benchgate, and our records give what the engine's benchmark would have printed: the same lines, with the same counts.
func checkOwnBenchmark(t *testing.T, c contract) {
	dir := t.TempDir()
	file := filepath.Join(dir, "own.json")
	ctx, cancel := context.WithTimeout(t.Context(), measureTimeout)
	defer cancel()
	cmd := c.OwnBenchmark(ctx, 16, 4, 200, 24, file)
	cmd.WaitDelay = waitDelay
	own, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", own)

	cmd, records := c.command(t, "Serve", load(16)...)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	files, err := filepath.Glob(filepath.Join(records, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	as, err := exec.CommandContext(ctx, "go", "run", "../../../../llmbench/cmd/benchreport", "-as", "vllm", files[0]).Output()
	assert.NilError(t, err)
	assert.DeepEqual(t, labels(string(as)), labels(string(own)))

	var counts struct {
		Completed int `json:"completed"`
		Output    int `json:"total_output_tokens"`
	}
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(text, &counts))
	assert.Equal(t, fmt.Sprint(counts), "{16 384}")

	gate := exec.CommandContext(ctx, "go", "run", "../../../../llmbench/cmd/benchgate", file, file)
	judged, _ := gate.CombinedOutput() // one run a side cannot be judged, but is read
	assert.Assert(t, strings.Contains(string(judged), "output-tok/s and 2 more: 1 old and 1 new samples"), "%s", judged)
}

// labels returns the names of the lines "Name: value" of the table of vllm bench serve.
func labels(text string) (all []string) {
	_, text, _ = strings.Cut(text, "Serving Benchmark Result")
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(value) != "" {
			all = append(all, name)
		}
	}
	return all
}
