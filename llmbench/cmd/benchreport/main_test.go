package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const recorded = `{"version":1,"benchmark":"BenchmarkServe/concurrency=2","dialect":"openai-chat","model":"m","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}
{"id":"a","pass":0,"due_ns":0,"start_ns":0,"connect_ns":0,"first_ns":20000000,"last_ns":50000000,"end_ns":60000000,"gaps_ns":[30000000],"choices":{"before":1,"amid":0,"after":0,"first_ns":10000000,"last_ns":50000000},"last_event_ns":55000000,"done_ns":56000000,"prompt_tokens":5,"output_tokens":2,"token_source":"usage","usage_alone":true,"outcome":"ok","status":200}
`

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	result := "BenchmarkServe/concurrency=1 1 100 output-tok/s\nBenchmarkServe/concurrency=2 1 180 output-tok/s\nPASS\n"
	assert.NilError(t, os.Mkdir(path("night"), 0o777))
	three := strings.TrimSuffix(result, "PASS\n") + "BenchmarkServe/concurrency=4 1 300 output-tok/s\nPASS\n"
	for name, text := range map[string]string{
		"a.txt":        result,
		"three.txt":    three,
		"six.txt":      strings.Repeat("Unit output-tok/s better=higher gate=2%\n"+result, 6),
		"fast.txt":     "mock-speed: 8\nBenchmarkA/rate=2 1 5 req/s\nPASS\n",
		"night/1.txt":  result,
		"night/2.txt":  "--- FAIL: BenchmarkServe\n    serve.go:51: the server is gone\nFAIL\n",
		"fail.txt":     strings.Replace(result, "PASS", "FAIL", 1),
		"nan.txt":      "BenchmarkA 1 NaN req/s\n",
		"r.jsonl":      recorded,
		"cut.jsonl":    recorded + recorded[strings.Index(recorded, "\n")+1:len(recorded)-9],
		"cut.txt":      result[:40],
		"v.jsonl":      strings.Replace(recorded, `"version":1`, `"version":9`, 1),
		"failed.jsonl": recorded + `{"end":{"outcome":"failed","why":"pass 0: interrupted"}}` + "\n",
		"bound.jsonl":  recorded + `{"end":{"outcome":"ok","withheld":["p99-itl-ns"]}}` + "\n",
		"none.jsonl":   recorded[:strings.Index(recorded, "\n")+1],
	} {
		assert.NilError(t, os.WriteFile(path(name), []byte(text), 0o600))
	}
	out := "-o=" + path("out.html")
	for _, c := range []struct {
		args           []string
		status         int
		stdout, stderr string // part of the output; "" means no output
	}{
		{[]string{"-o=-", path("a.txt"), path("r.jsonl")}, 0, "</html>", ""},
		{[]string{"-o=-", "-title", "it's a page", path("a.txt")}, 0, `Made by <code>benchreport -o=- -title &#39;it&#39;\&#39;&#39;s a page&#39; `, ""},
		{[]string{out, path("a.txt")}, 0, "The throughput is greatest at 2 users, 180 tok/s.", ""},
		{[]string{out, "-slo=ttft=1s", path("r.jsonl")}, 0, "Load: 2 users, 1 run\n", ""},
		{[]string{out, "-slo=ttft=1s", path("a.txt")}, 0, "warning: 2 of 2 benchmarks have no records, so that nobody can tell whether their requests keep ttft=1s.", ""},
		{[]string{out, "-slo=ttft=1s", path("fast.txt")}, 0, "warning: 1 of 1 benchmarks are of a simulated server whose time runs faster or slower (speed in LLMBENCH_MOCK), so that no SLO is judged of them.", ""},
		{[]string{out, path("night")}, 0, "The throughput is greatest at 2 users, 180 tok/s.", ""},
		{[]string{out, path("night/2.txt")}, 2, "", "no benchmark has a result; " + path("night/2.txt") + ": Serve: the server is gone"},
		{[]string{out, "-slo=fast", path("r.jsonl")}, 2, "", `-slo "fast" is not a limit like ttft=500ms`},
		{[]string{out, "-base", path("six.txt"), path("six.txt")}, 0, "Pass: in none of 2 figures with a margin is", ""},
		{[]string{out, "-pictures", path("pictures"), path("three.txt")}, 0, "The throughput", ""},
		{[]string{"-format", "text", path("a.txt")}, 0, "2 users get 180 tok/s in all; the server may carry more\nGreatest throughput: 180 tok/s (at 2 users, the most that was measured)\n", ""},
		{[]string{"-format=text", path("fail.txt")}, 0, "warning: A line FAIL says that benchmarks failed, so that results may be missing or wrong. About: " + path("fail.txt") + "\n", ""},
		{[]string{"-format=md", path("fail.txt"), path("a.txt")}, 0, "- ⚠ A line FAIL says that benchmarks failed, so that results may be missing or wrong. About: ", ""},
		{[]string{"-o=-", path("night")}, 0, "A line FAIL says that benchmarks failed, so that results may be missing or wrong. About: " + path("night/2.txt"), ""},
		{[]string{"-format=md", path("a.txt")}, 0, "### Benchmark report\n\n**2 users get 180 tok/s in all; the server may carry more**", ""},
		{[]string{"-format=md", "-o", path("out.md"), path("a.txt")}, 0, "wrote " + path("out.md") + "\n", ""},
		{[]string{out, path("a.txt")}, 0, "\n\nwrote " + path("out.html") + "\n", ""},
		{[]string{out, "-pictures", path("drawn"), path("three.txt")}, 0, "\n\nwrote " + path("out.html") + ", and 6 files of pictures to " + path("drawn") + "\n", ""},
		{[]string{"-o=-", "-pictures", path("drawn"), path("three.txt")}, 0, "</html>", "benchreport: wrote 6 files of pictures to " + path("drawn") + "\n"},
		{[]string{"-format=pdf", path("a.txt")}, 2, "", `-format "pdf": want html, json, text or md`},
		{[]string{"-format=md", "-pictures=x", path("a.txt")}, 2, "", "-pictures with -format md: want -format html"},
		{[]string{"-as", "vllm", path("r.jsonl")}, 0, "Mean TTFT (ms):                          10.00", ""},
		{[]string{"-as", "sglang", path("r.jsonl"), path("r.jsonl")}, 0, "r.jsonl\n=====", "benchreport: note: " + path("r.jsonl") + ": cannot tell: Total input tokens, "},
		{[]string{"-as", "vllm", "-json", path("r.jsonl")}, 0, `"mean_ttft_ms": 10.0,`, ""},
		{[]string{"-as", "vllm@0.12", "-percentile-metrics", "e2el", "-metric-percentiles", "50,99.9", path("r.jsonl")}, 0, "P99.9 E2EL (ms):                         55.00     \n==================================================\n", "benchreport: note: cannot tell: Total input tokens, "},
		{[]string{"-as", "list"}, 0, "vllm@0.10.1", ""},
		{[]string{"-as", "vllm@0.9", path("r.jsonl")}, 2, "", `-as "vllm@0.9": want release 0.10.1 or a later one, such as 0.30`},
		{[]string{"-as", "sglang@1", path("r.jsonl")}, 2, "", `-as "sglang@1": want no release`},
		{[]string{"-as", "aiperf", path("r.jsonl")}, 2, "", `-as "aiperf": what AIPerf prints is not imitated: want one of vllm, sglang, evalscope, evalscope-2024, fw-ai, llama-bench, or a report without -as, which has the figures of AIPerf`},
		{[]string{"-as", "vllm", "-percentile-metrics", "e2e", path("r.jsonl")}, 2, "", `-as metric "e2e": want ttft, tpot, itl or e2el`},
		{[]string{"-as", "sglang", "-metric-percentiles", "99", path("r.jsonl")}, 2, "", "only vllm has flags for that"},
		{[]string{"-as", "vllm", path("failed.jsonl")}, 0, "\nno result: pass 0: interrupted\n", ""},
		{[]string{"-as", "vllm", path("bound.jsonl")}, 0, "Mean TTFT (ms):                          10.00", "benchreport: note: the client distorted p99-itl-ns: the same figures of the block are as wrong\n"},
		{[]string{"-as", "vllm", "-json", path("failed.jsonl")}, 2, "", "failed.jsonl: the benchmark has no result: pass 0: interrupted: want -as without -json"},
		{[]string{"-as", "vllm", path("cut.jsonl")}, 0, "\nno result: the run was cut: its process was killed or still runs", ""},
		{[]string{"-as", "vllm", "-json", path("cut.jsonl")}, 2, "", "cut.jsonl: the benchmark has no result: the run was cut"},
		{[]string{"-o=-", path("cut.jsonl")}, 0, "The benchmark has no result: the run was cut", ""},
		{[]string{"-o=-", path("failed.jsonl")}, 0, "The benchmark has no result: pass 0: interrupted.", ""},
		{[]string{"-help"}, 0, "usage: benchreport", ""},
		{[]string{}, 2, "", "benchreport: no files: want benchmark files"},
		{[]string{"-bogus"}, 2, "", "flag provided but not defined: -bogus"},
		{[]string{out, path("nan.txt")}, 2, "", "nan.txt:1: req/s is NaN: want a finite number"},
		{[]string{out, path("cut.txt")}, 2, "", "cut.txt:1: the last line has no line end"},
		{[]string{out, path("v.jsonl")}, 2, "", "v.jsonl:1: version 9: want 2, 1 or none"},
		{[]string{out, path("none.jsonl")}, 2, "", "none.jsonl: an empty run"},
		{[]string{out, path("missing")}, 2, "", "missing: no such file"},
		{[]string{"-o", path("no/where.html"), path("a.txt")}, 2, "", "no such file"},
		{[]string{out, "-base", path("a.txt"), path("r.jsonl")}, 2, "", "0 benchmark files: want one to compare"},
		{[]string{"-as", "wrk", path("r.jsonl")}, 2, "", `-as "wrk": want one of vllm, sglang`},
		{[]string{"-as", "vllm", "-pass=1", path("r.jsonl")}, 2, "", "pass 1: want 0 to 0"},
		{[]string{"-as", "vllm", path("a.txt")}, 2, "", "a.txt:1: want the line about the benchmark"},
		{[]string{"-as", "vllm", path("none.jsonl")}, 2, "", "an empty run"},
		{[]string{"-as", "vllm", "-o=x", path("r.jsonl")}, 2, "", "-as prints a block"},
		{[]string{"-as", "sglang", "-json", path("r.jsonl")}, 2, "", "-json with -as sglang: want -as vllm"},
		{[]string{"-json", path("r.jsonl")}, 2, "", "want -as too"},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(c.args, &stdout, &stderr); got != c.status {
			t.Errorf("run(%q) = %d, want %d: %s", c.args, got, c.status, &stderr)
		}
		for _, s := range []struct{ name, got, want string }{{"stdout", stdout.String(), c.stdout}, {"stderr", stderr.String(), c.stderr}} {
			if s.want == "" && s.got != "" || !strings.Contains(s.got, s.want) {
				t.Errorf("run(%q): %s is %.300q, want %q in it", c.args, s.name, s.got, s.want)
			}
		}
	}
	pictures, err := filepath.Glob(path("pictures/*"))
	assert.NilError(t, err)
	assert.Equal(t, len(pictures), 6) // SVG, PNG and CSV of the headline and of the sweep
	var stdout bytes.Buffer
	run([]string{"-as", "vllm", "-json", path("r.jsonl")}, &stdout, &stdout)
	assert.Assert(t, json.Valid(stdout.Bytes()))
}

// TestDoc checks that the package documentation has every flag.
func TestDoc(t *testing.T) {
	source, err := os.ReadFile("main.go")
	assert.NilError(t, err)
	doc, _, _ := strings.Cut(string(source), "package main")
	var help bytes.Buffer
	assert.Equal(t, run([]string{"-help"}, &help, &help), 0)
	for line := range strings.Lines(help.String()) {
		if name, isFlag := strings.CutPrefix(line, "  -"); isFlag {
			name = strings.Fields(name)[0]
			assert.Assert(t, strings.Contains(doc, "//\t-"+name+" "), "-%s is not in the doc comment", name)
		}
	}
}
