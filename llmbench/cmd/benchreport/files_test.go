package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"gotest.tools/v3/assert"
)

// toolFolder writes the result files of six runs of a tool, made from the template in the folder of package
// resultfile. loss is the share by which the server is slower: it has lower rates and longer latencies.
func toolFolder(t *testing.T, name string, loss float64) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("../../internal/resultfile/testdata", name))
	assert.NilError(t, err)
	for i := range 6 {
		noise := 1 + 0.001*float64(i%3)
		spell := func(v float64) string { return fmt.Sprintf("%.6g", v) }
		tmpl, err := template.New(name).Funcs(template.FuncMap{
			"up":   func(v float64) string { return spell(v * noise * (1 - loss)) },
			"down": func(v float64) string { return spell(v / noise / (1 - loss)) },
		}).Parse(string(text))
		assert.NilError(t, err)
		var b strings.Builder
		assert.NilError(t, tmpl.Execute(&b, i))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d%s", i, filepath.Ext(name))), []byte(b.String()), 0o600))
	}
	return dir
}

// TestFilesOfOtherTools checks that the files of a folder or of a pattern are drawn as several samples, that a
// single file is drawn as one sample, and that -base judges them.
func TestFilesOfOtherTools(t *testing.T) {
	for _, c := range []struct{ file, tool, load, unit string }{
		{"vllm.json", "vLLM", "VLLM/rate=inf/concurrency=16", "p50-ttft-ns"},
		{"sglang.jsonl", "SGLang", "SGLang/", "p50-ttft-ns"},
		{"llmd.yaml", "llm-d Benchmark Report", "LLMDReport/", "output-tok/s"},
		{"aiperf.csv", "AIPerf", "AIPerf", "output-tok/s"},
		{"ollama.txt", "Ollama's bench", "Ollama", "srv-output-tok/s"},
	} {
		old, worse := toolFolder(t, c.file, 0), toolFolder(t, c.file, 0.05)
		pattern := filepath.Join(worse, "*")
		draw := func(args ...string) (text, page string) {
			t.Helper()
			out := filepath.Join(t.TempDir(), "out.html")
			var stdout, stderr bytes.Buffer
			assert.Equal(t, run(append([]string{"-o", out}, args...), &stdout, &stderr), 0, "%s: %s", c.file, &stderr)
			data, err := os.ReadFile(out)
			assert.NilError(t, err)
			return stdout.String(), string(data)
		}
		text, page := draw(old)
		assert.Assert(t, strings.Contains(text, "6 runs"), "%s: %s", c.file, text)
		for _, want := range []string{c.load, c.unit, filepath.Join(old, "3"+filepath.Ext(c.file)) + "</code>: " + strings.ReplaceAll(c.tool, "'", "&#39;") + ": "} {
			assert.Assert(t, strings.Contains(page, want), "%s: no %q in the page", c.file, want)
		}
		text, _ = draw(filepath.Join(old, "0"+filepath.Ext(c.file)))
		assert.Assert(t, strings.Contains(text, "1 run"), "%s: %s", c.file, text)
		text, _ = draw(old, worse)
		assert.Assert(t, strings.Contains(text, "Systems: "+filepath.Base(old)+", "+filepath.Base(worse)), "%s: %s", c.file, text)
		text, page = draw("-base", old, pattern)
		assert.Assert(t, strings.Contains(text, "Regression: in "), "%s: %s", c.file, text)
		assert.Assert(t, strings.Contains(page, "<svg"), c.file)
	}
}

// TestSweepOfOtherTool checks that files with several loads are drawn as one sweep.
func TestSweepOfOtherTool(t *testing.T) {
	dir := toolFolder(t, "vllm.json", 0)
	for i, n := range []string{"1", "4", "16", "16", "32", "64"} {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"max_concurrency": 16`, `"max_concurrency": `+n, 1)), 0o600))
	}
	var page, stderr bytes.Buffer
	assert.Equal(t, run([]string{"-o=-", dir}, &page, &stderr), 0, &stderr)
	for _, want := range []string{"1 to 64 users, 1 to 2 runs each", `id="sweep`, "<svg"} {
		assert.Assert(t, strings.Contains(page.String(), want), want)
	}
}

// TestToolsErrors checks the report of a run with failed requests, and which files and arguments are rejected.
func TestToolsErrors(t *testing.T) {
	dir := toolFolder(t, "vllm.json", 0)
	path := filepath.Join(dir, "5.json")
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	for _, c := range []struct {
		old, new string
		status   int
		want     string
	}{
		{`"failed": 0`, `"failed": 3`, 0, "3 of 203 requests failed"},
		{`"completed": 200`, `"completed": 0`, exitNone, "5.json: vLLM: completed is 0"},
		{`"failed": 0`, `"failed": `, exitNone, "5.json: "},
	} {
		changed := strings.Replace(string(text), c.old, c.new, 1)
		assert.Assert(t, changed != string(text), c.old)
		assert.NilError(t, os.WriteFile(path, []byte(changed), 0o600))
		var stdout, stderr bytes.Buffer
		assert.Equal(t, run([]string{"-o=-", dir}, &stdout, &stderr), c.status)
		assert.Assert(t, strings.Contains(stdout.String()+stderr.String(), c.want), "%s: %s", c.new, &stderr)
	}
	var out bytes.Buffer
	one := filepath.Join(dir, "0.json")
	assert.Equal(t, run([]string{"-o=-", "-base", one, one, one}, &out, &out), exitNone)
	assert.Assert(t, strings.Contains(out.String(), "2 benchmark files: want one to compare, or a folder"), out.String())
	assert.Equal(t, run([]string{"-o=-", filepath.Join(dir, "*.none")}, &out, &out), exitNone)
	assert.Assert(t, strings.Contains(out.String(), "*.none: no such file"), out.String())
}
