package resultfile

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"text/template"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// examples returns a file of each tool, by name.
func examples(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.*")
	assert.NilError(t, err)
	same := func(v float64) float64 { return v }
	all := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		tmpl, err := template.New("").Funcs(template.FuncMap{"up": same, "down": same}).Parse(string(text))
		assert.NilError(t, err)
		var b bytes.Buffer
		assert.NilError(t, tmpl.Execute(&b, 1))
		all[filepath.Base(path)] = b.Bytes()
	}
	return all
}

// TestUnits checks that the throughput, the TTFT and the time per token of each tool get llmbench's
// units. Times must be in nanoseconds.
func TestUnits(t *testing.T) {
	for name, text := range examples(t) {
		f := &File{Path: name}
		assert.NilError(t, f.read(bytes.NewReader(text), Options{}), name)
		for _, r := range f.Results {
			for _, v := range r.Values {
				want, ok := map[string]float64{"output-tok/s": 2391, "p50-ttft-ns": 31.2e6, "mean-ttft-ns": 33.1e6, "mean-tpot-ns": 6.61e6, "out-tok/req": 1005, "in-tok/req": 512}[v.Unit]
				assert.Check(t, !ok || math.Abs(v.Value-want) < 1e-9*want, "%s: %v, want %v", name, v, want)
				assert.Check(t, v.Source.Tool == f.Tool && v.Source.Key != "" && v.Source.Factor > 0, "%s: %+v", name, v)
			}
		}
		lines := strings.Join(UnitLines([]*File{f}), "\n")
		assert.Check(t, strings.Contains(lines, "gate=2%"), "%s: %s", name, lines)
	}
}

// TestTruncated cuts each tool's file at many places. What is left must be an error, which must not say that the file is
// of another kind: then it would be left out of a folder. Only whole rows of llama-bench's table may be missing, because
// no other row tells of them; the gate then lacks a benchmark.
func TestTruncated(t *testing.T) {
	for name, text := range examples(t) {
		text = bytes.TrimSuffix(text, []byte("\n")) // behind a value in JSON nothing is missing
		for cut := len(text) / 3; cut < len(text); cut += 1 + len(text)/100 {
			f := &File{Path: name}
			err := f.read(bytes.NewReader(text[:cut]), Options{})
			wholeRows := name == "llamabench.csv" && text[cut-1] == '\n'
			assert.Check(t, wholeRows || err != nil && !isBeside(err), "%s without the last %d bytes: %v", name, len(text)-cut, err)
		}
	}
}

// FuzzRead checks that no file makes a reader panic, and that values are finite and not negative.
// If what was read is written, it must be possible to read all of it again.
func FuzzRead(f *testing.F) {
	for _, text := range examples(f) {
		f.Add(text)
	}
	f.Add([]byte(`[{"test_name": "a", "result": {"throughput_qps": 1, "latency_mean": 2}}]`))
	f.Add([]byte(`[{"Test name": "a", "Output Tput (tok/s)": 5, "P99 TTFT (ms)": Infinity}]`))
	f.Add([]byte(`[{"Percentiles": "50%", "TTFT (ms)": 5}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := &File{Path: "x"}
		if err := file.read(bytes.NewReader(text), Options{MaxFail: 0.5}); err != nil {
			assert.Assert(t, err.Error() != "")
			return
		}
		for _, r := range file.Results {
			for _, v := range r.Values {
				assert.Assert(t, v.Value >= 0 && !math.IsInf(v.Value, 0), "%+v", v)
			}
		}
		if file.text != nil {
			return
		}
		side := &Side{Path: "x", Files: []*File{file}}
		Distinguish(Options{}, side)
		written := side.Text(UnitLines(side.Files))
		results, err := benchfile.Read(bytes.NewReader(written.Bytes), "x")
		assert.NilError(t, err, "%s", written.Bytes)
		assert.Equal(t, len(results), len(file.Results), "%s", written.Bytes)
	})
}

// endless is a text with a prefix, a part that is repeated, and a suffix. While it is read, it
// remembers the largest heap.
type endless struct {
	prefix, part, suffix string
	parts                int
	heap                 uint64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.prefix == "" && e.parts > 0 {
		if e.parts--; e.parts%64 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			e.heap = max(e.heap, m.HeapAlloc)
		}
		e.prefix = e.part
	}
	if e.prefix == "" {
		e.prefix, e.suffix = e.suffix, ""
	}
	if e.prefix == "" {
		return 0, io.EOF
	}
	n := copy(b, e.prefix)
	e.prefix = e.prefix[n:]
	return n, nil
}

// TestLargeFiles checks that a file of 100 MB is either read in limited memory or refused.
func TestLargeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of 100 MB")
	}
	vllm, _, _ := strings.Cut(string(examples(t)["vllm.json"]), "}")
	for _, c := range []struct{ name, prefix, part, suffix, want string }{
		{"one array", vllm + `, "ttfts": [0.1`, strings.Repeat(", 0.123456", 6000), "]}", ""},
		{"arrays of an array", vllm + `, "itls": [[0.1]`, ", [0.1" + strings.Repeat(", 0.123456", 6000) + "]", "]}", ""},
		{"texts", vllm + `, "generated_texts": [""`, `, "` + strings.Repeat("long text ", 6000) + `"`, "]}", ""},
		{"one text", vllm + `, "x": "`, strings.Repeat("long text ", 6000), `"}`, "a string of more than 8388608 bytes"},
		{"objects", vllm + `, "x": {"a": 1`, "", "}}", ""},
		{"one CSV", "Type,Request Count,Failure Count\n", strings.Repeat("a,1,0\n", 10000), "", "more than 8388608 bytes"},
		{"YAML", "version: '0.2'\nrun:\n", strings.Repeat("- aaaa\n", 8000), "", "more than 8388608 bytes"},
		{"Go", "goos: linux\n", strings.Repeat("# comment\n", 6000), "", "more than 64 MiB"},
	} {
		in := &endless{prefix: c.prefix, part: c.part, suffix: c.suffix, parts: 1700}
		runtime.GC()
		f := &File{Path: "x"}
		err := f.read(in, Options{})
		if c.want == "" {
			assert.NilError(t, err, c.name)
			assert.Equal(t, len(f.Results), 1, c.name)
		} else {
			assert.ErrorContains(t, err, c.want, c.name)
		}
		assert.Check(t, in.heap < 300<<20, "%s: a heap of %d bytes", c.name, in.heap)
		t.Logf("%s: a heap of at most %d MB", c.name, in.heap>>20)
	}
}

// write writes files to a new folder, and returns the folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestFolders checks which files in a folder are samples.
func TestFolders(t *testing.T) {
	text := examples(t)
	vllm, stage := string(text["vllm.json"]), string(text["inferenceperf.json"])
	aggregate := strings.Replace(vllm, "}", `, "aggregation_method": "median", "aggregated_repetitions": 3, "individual_result_files": ["bench-a-run-1.json", "bench-a-run-2.json"]}`, 1)
	pooled := strings.Replace(stage, `"requested_rate": 2.0, `, "", 1)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int    // the number of files
		note  string // a part of the notes
		fails string
	}{
		{"the sources of a median", map[string]string{"a.json": aggregate, "bench-a-run-1.json": vllm, "bench-a-run-2.json": vllm}, 1, "has the median of it", ""},
		{"a tool's CSV beside its JSON", map[string]string{"p.csv": string(text["aiperf.csv"]), "p.json": string(text["aiperf.json"])}, 1, "p.json has the same run", ""},
		{"a sum of stages", map[string]string{"stage_0.json": stage, "summary.json": pooled}, 1, "summary.json", ""},
		{"other files", map[string]string{"a.json": vllm, "server.log": "started\n", "meta.json": "{}", ".hidden": "x"}, 1, "meta.json, server.log", ""},
		{"Go benchmark format", map[string]string{"a.json": vllm, "b.txt": "BenchmarkA 1 2 ns/op\nPASS\n"}, 2, "", ""},
		{"EvalScope's percentiles", map[string]string{evalscopeSummary: string(text["evalscope.json"]), evalscopePercentile: `[{"Percentiles": "50%", "TTFT (ms)": 31.2, "TPOT (ms)": 6.6}]`}, 1, evalscopePercentile, ""},
		{"a file that was cut", map[string]string{"a.json": vllm, "b.json": vllm[:500]}, 0, "", "b.json: the text ends early"},
		{"an empty file", map[string]string{"a.json": ""}, 0, "", "no result file"},
		{"only a sum of stages", map[string]string{"summary.json": pooled}, 0, "", "no result file"},
	} {
		side, err := ReadSide(write(t, c.files), Options{})
		if c.fails != "" {
			assert.ErrorContains(t, err, c.fails, c.name)
			continue
		}
		assert.NilError(t, err, c.name)
		assert.Equal(t, len(side.Files), c.want, c.name)
		assert.Assert(t, strings.Contains(strings.Join(side.AllNotes(), "\n"), c.note), "%s: %q", c.name, side.AllNotes())
	}
	side, err := ReadSide(write(t, map[string]string{evalscopeSummary: string(text["evalscope.json"]), evalscopePercentile: `[{"Percentiles": "50%", "TTFT (ms)": 31.2}]`}), Options{})
	assert.NilError(t, err)
	assert.Assert(t, side.Files[0].Results[0].has("p50-ttft-ns"))
}

// TestRepetitions checks that several runs on one server, each in its own file, become one run of
// the benchmark format.
func TestRepetitions(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	for _, names := range [][2]string{{"bench-a-run-1.json", "bench-a-run-2.json"}, {"sweep/run=0.json", "sweep/run=1.json"}} {
		side, err := ReadSide(write(t, map[string]string{names[0]: vllm, names[1]: vllm}), Options{})
		assert.NilError(t, err)
		assert.Equal(t, strings.Count(string(side.Text(nil).Bytes), "PASS\n"), 1)
	}
}

// llmdReport returns a report of llm-d on nine requests of a tool.
func llmdReport(tool, latency string) string {
	return "version: '0.2'\nscenario:\n  load:\n    standardized: {tool: " + tool + "}\nresults:\n  request_performance:\n    aggregate:\n" +
		"      requests: {total: 9, failures: 0}\n      latency: {" + latency + "}\n"
}

// TestVersions checks files that other versions of the tools wrote, and files that are not results.
func TestVersions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{ // want is a part of the resulting text
		{"SGLang of 2024", `{"backend": "sglang", "dataset_name": "random", "request_rate": 2.0, "max_concurrency": null, "total_output_tokens": 3000, "total_output_tokens_retokenized": 2990, "median_ttft_ms": 200, "median_itl_ms": 40, "output_throughput": 500, "random_input_len": 1024, "random_output_len": 512, "completed": 30}`,
			"BenchmarkSGLang/dataset=random/in=1024/out=512/rate=2 1 500 output-tok/s 200000000 p50-ttft-ns 40000000 p50-itl-ns 100 out-tok/req"},
		{"EvalScope of 2025", `{"Time taken for tests (s)": 10, "Number of concurrency": 4, "Total requests": 40, "Succeed requests": 40, "Failed requests": 0, "Output token throughput (tok/s)": 500, "Average time to first token (s)": 0.2, "Average time per output token (s)": 0.01}`,
			"BenchmarkEvalScope/concurrency=4 1 0 fail-% 500 output-tok/s 200000000 mean-ttft-ns 10000000 mean-tpot-ns"},
		{"vLLM's embeddings", `{"backend": "openai-embeddings", "model_id": "m", "num_prompts": 40, "completed": 40, "request_throughput": 20, "total_token_throughput": 900, "mean_e2el_ms": 50}`,
			"BenchmarkVLLM 1 0 fail-% 900 prompt-tok/s 900 total-tok/s 20 req/s 50000000 mean-e2e-ns"},
		{"vLLM's nightly table", `[{"Test name": "a", "Output Tput (tok/s)": 500, "Median TTFT (ms)": 20, "Median": 10}]`, "BenchmarkVLLMTable/test=a 1 500 output-tok/s 20000000 p50-ttft-ns 10000000 p50-tpot-ns"},
		{"vLLM's nightly table in columns", `{"serving": {"Test name": {"0": "a"}, "Output Tput (tok/s)": {"0": 500}}}`, "BenchmarkVLLMTable/test=a 1 500 output-tok/s"},
		{"vLLM-Omni's images", `[{"test_name": "a", "benchmark_params": {"name": "512"}, "result": {"completed_requests": 10, "failed_requests": 0, "throughput_qps": 0.4, "latency_mean": 2.5}}]`,
			"BenchmarkVLLMImage/test=a/case=512 1 0 fail-% 0.4 req/s 2500000000 mean-e2e-ns"},
		{"GuideLLM without version", `{"benchmarks": [{"args": {"strategy": {"type_": "synchronous"}}, "request_totals": {"successful": 9, "errored": 0}, "metrics": {"requests_per_second": {"successful": {"mean": 2}}, "output_tokens_per_second": {"successful": {"mean": 500}}, "output_token_count": {"successful": {"total_sum": 900}}}}]}`,
			"BenchmarkGuideLLM/strategy=synchronous 1 0 fail-% 500 output-tok/s 2 req/s"},
		{"genai-bench in milliseconds", `{"_time_unit": "ms", "aggregated_metrics": {"num_concurrency": 1, "mean_output_throughput_tokens_per_s": 94, "num_completed_requests": 10, "num_error_requests": 0, "stats": {"ttft": {"p50": 31.2}}}}`,
			"BenchmarkGenAIBench/concurrency=1 1 0 fail-% 94 output-tok/s 31200000 p50-ttft-ns"},
		{"GuideLLM's time", `{"metadata": {"version": 2}, "benchmarks": [{"start_time": 1795000002.5, "config": {"strategy": {"type_": "concurrent", "streams": 16}}, "scheduler_metrics": {"requests_made": {"successful": 9, "errored": 0}}, "metrics": {"requests_per_second": {"successful": {"mean": 2}}, "output_tokens_per_second": {"successful": {"mean": 500}}, "output_token_count": {"successful": {"total_sum": 900}}}}]}`,
			"date: 2026-11-18T11:06:42\nBenchmarkGuideLLM/strategy=concurrent/streams=16 1 0 fail-% 500 output-tok/s 2 req/s"},
		{"inference-perf since August 2026", `{"benchmark_time_seconds": 101, "load_summary": {"count": 9, "requested_rate": 2, "achieved_rate": 2}, "successes": {"count": 9, "latency": {"request_latency": {"mean": 6.7}, "normalized_time_per_output_token": {"mean": 0.0067}, "time_per_output_token": null, "time_to_first_token": null, "inter_token_latency": null}, "throughput": {"output_tokens_per_sec": 500}, "prompt_tokens": {"total": 4608, "cached": 0, "uncached": 4608, "mean": 512}, "output_len": {"mean": 128}}, "failures": {"count": 0}}`,
			"BenchmarkInferencePerf/rate=2 1 0 fail-% 500 output-tok/s 6700000 mean-tpot-incl-ttft-ns 6700000000 mean-e2e-ns 512 in-tok/req 128 out-tok/req"},
		{"llm_bench", "Type,Name,Request Count,Failure Count,Average Response Time\nPOST,/v1,9,0,900\nMETRIC,time_to_first_token,9,0,31\nMETRIC,num_tokens,9,0,100\n,Aggregated,27,0,500\n",
			"BenchmarkLLMBench 1 31000000 mean-ttft-ns 100 out-tok/req"},
		{"llm-d 0.1", "version: '0.1'\nscenario:\n  model: {name: m}\nmetrics:\n  requests: {total: 9, failures: 0}\n  latency:\n    time_to_first_token: {units: ms, p50: 31.2}\n  throughput: {output_tokens_per_sec: 500}\n",
			"BenchmarkLLMDReport 1 0 fail-% 31200000 p50-ttft-ns 500 output-tok/s"},
		{"llm-d 0.1 of GuideLLM", "version: '0.1'\nscenario:\n  load: {name: guidellm}\nmetrics:\n  requests: {total: 107, failures: 0, incomplete: 7}\n  latency:\n    time_per_output_token: {units: ms, mean: 6.64}\n    inter_token_latency: {units: ms, mean: 6.61}\n",
			"BenchmarkLLMDReport 1 0 fail-% 6640000 mean-tpot-incl-ttft-ns 6610000 mean-token-itl-ns"},
		{"llm-d 0.2 of AIPerf", llmdReport("aiperf", "inter_token_latency: {units: s/token, mean: 0.0066, p50: 0.0065}"), "BenchmarkLLMDReport 1 0 fail-% 6600000 mean-tpot-ns 6500000 p50-tpot-ns"},
		{"llm-d 0.2 of inference-perf", llmdReport("inference-perf", "time_per_output_token: {units: s/token, mean: 0.0066}, inter_token_latency: {units: s/token, mean: 0.0065}, normalized_time_per_output_token: {units: s/token, mean: 0.0067}"),
			"BenchmarkLLMDReport 1 0 fail-% 6600000 mean-tpot-ns 6500000 mean-itl-ns 6700000 mean-tpot-incl-ttft-ns"},
	} {
		f := &File{Path: "x"}
		assert.NilError(t, f.read(strings.NewReader(c.text), Options{}), c.name)
		text := string((&Side{Files: []*File{f}}).Text(nil).Bytes)
		assert.Assert(t, strings.Contains(text, c.want+"\n"), "%s: %s", c.name, text)
	}
}

// TestSpeechHasNoTokens checks that a speech run without tokens is valid, and that it is gated on
// its audio.
func TestSpeechHasNoTokens(t *testing.T) {
	text := strings.NewReplacer(`"total_output_tokens": 201000`, `"total_output_tokens": 0, "audio_throughput": 4.5`, `"output_throughput": 2391`, `"output_throughput": 0.0`).Replace(string(examples(t)["vllm.json"]))
	f := &File{Path: "x"}
	assert.NilError(t, f.read(strings.NewReader(text), Options{}))
	assert.Assert(t, strings.Contains(strings.Join(UnitLines([]*File{f}), "\n"), "Unit audio-s/s better=higher gate=2%"))
}

// TestSeries checks that files whose names say that they belong to different series become
// different benchmarks.
func TestSeries(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	files := map[string]string{"chunk_1_10-20260302-101100.json": vllm, "plain_1_10-20260302-101200.json": vllm, "plain_1_10-20260303-101200.json": vllm}
	side, err := ReadSide(write(t, files), Options{})
	assert.NilError(t, err)
	Distinguish(Options{}, side)
	var names []string
	for _, f := range side.Files {
		names = append(names, f.Results[0].Name)
	}
	assert.DeepEqual(t, names, []string{"VLLM/file=chunk_1_10/rate=inf/concurrency=16", "VLLM/file=plain_1_10/rate=inf/concurrency=16", "VLLM/file=plain_1_10/rate=inf/concurrency=16"})
}

// TestStale checks the note about a file that is older than the files of the other side.
func TestStale(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	read := func(text string) *Side {
		side, err := ReadSide(write(t, map[string]string{"a.json": text}), Options{})
		assert.NilError(t, err)
		return side
	}
	now, before := read(vllm), read(strings.Replace(vllm, "20260302", "20250302", 1))
	assert.Equal(t, len(Stale(before, now)), 0)
	assert.Assert(t, strings.Contains(Stale(now, before)[0], "is of 2025-03-02"), "%q", Stale(now, before))
}
