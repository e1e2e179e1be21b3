package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"gotest.tools/v3/assert"
)

// TestConvertTo checks that convert -to writes the right results to the right files. Package dashboard tests
// the formats themselves.
func TestConvertTo(t *testing.T) {
	old, worse := writeSide(t, "vllm.json", 6, 0), writeSide(t, "vllm.json", 6, 0.05)
	out := filepath.Join(t.TempDir(), "new folder")
	report := filepath.Join(t.TempDir(), "report.json")
	var text, stderr bytes.Buffer
	assert.Equal(t, run([]string{"-format=json", old, worse}, &text, &stderr), command.Regression)
	assert.NilError(t, os.WriteFile(report, text.Bytes(), 0o600))
	cut := filepath.Join(t.TempDir(), "cut.txt")
	assert.NilError(t, os.WriteFile(cut, []byte("BenchmarkA 1 5 ns/op\nBenchmarkA 1 5 ns"), 0o600))
	const name = "VLLM/rate=inf/concurrency=16"
	for _, c := range []struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		{[]string{"-to=go", old}, 0, "Benchmark" + name + " 1 ", ""},
		{[]string{"-to=bencher", old}, 0, `"` + name + `": {`, "higher is better: thresholds of bencher run want --threshold-lower-boundary for output-tok/s, total-tok/s, req/s"},
		{[]string{"-to=csv", old, worse}, 0, name + ",12,output-tok/s,", ""},
		{[]string{"-to=github-action-benchmark", "-out", out, old}, 0, filepath.Join(out, "customBiggerIsBetter.json") + "\n", "left out, because they have no direction: in-tok/req, out-tok/req"},
		{[]string{"-to=llm-d-report", "-out", out, old}, 0, filepath.Join(out, "VLLM_rate=inf_concurrency=16.6.yaml") + "\n", "fail-%: left out"},
		{[]string{"-to=junit", report}, 0, `<testcase classname="` + name + `" name="output-tok/s">` + "\n      <failure message=\"-5.0", ""},
		{[]string{"-to=junit", old}, command.CannotJudge, "", "is a directory"},
		{[]string{"-to=junit", report, report}, command.CannotJudge, "", "-to=junit: 2 files: want one, a report of benchgate -format=json"},
		{[]string{"-to=junit", filepath.Join(old, "0", "vllm.json")}, command.CannotJudge, "", `the verdict is "": want a report of benchgate -format=json`},
		{[]string{"-to=go", cut}, command.CannotJudge, "", "cut.txt:2: the last line has no line end: was the file cut off?"},
		{[]string{"-to=csv", cut}, command.CannotJudge, "", "cut.txt:2: the last line has no line end: was the file cut off?"},
		{[]string{"-to=bencher", cut}, command.CannotJudge, "", "cut.txt:2: the last line has no line end: was the file cut off?"},
		{[]string{"-to=grafana", old}, command.CannotJudge, "", "-to=grafana: want go, github-action-benchmark, bencher, llm-d-report, csv or junit"},
		{[]string{"-to=llm-d-report", old}, command.CannotJudge, "", "-to=llm-d-report: want -out=folder too"},
		{[]string{"-to=csv", "-out", out, old}, command.CannotJudge, "", "the others write to standard output"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(append([]string{"convert"}, c.args...), &stdout, &stderr)
		assert.Assert(t, status == c.status && strings.Contains(stdout.String(), c.stdout) && strings.Contains(stderr.String(), c.stderr), "%q: %d\n%s\n%s", c.args, status, &stdout, &stderr)
	}
	for file, want := range map[string]bool{"customBiggerIsBetter.json": true, "customSmallerIsBetter.json": false} {
		data, err := os.ReadFile(filepath.Join(out, file))
		assert.NilError(t, err)
		assert.Equal(t, strings.Contains(string(data), "output-tok/s"), want, file)
		assert.Equal(t, strings.Contains(string(data), "p50-ttft-ns"), !want, file)
	}
}
