package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"gotest.tools/v3/assert"
)

// toolFile returns the result file of a tool's i-th run, made from the template in the folder of package
// resultfile. loss is the share by which the server is slower: it has lower rates and longer latencies. Runs
// differ by up to 0.3 %.
func toolFile(t *testing.T, name string, i int, loss float64) string {
	t.Helper()
	noise := 1 + 0.001*float64(i%4)
	spell := func(v float64) string { return fmt.Sprintf("%.6g", v) }
	text, err := os.ReadFile(filepath.Join("../../internal/resultfile/testdata", name))
	assert.NilError(t, err)
	tmpl, err := template.New(name).Funcs(template.FuncMap{
		"up":   func(v float64) string { return spell(v * noise * (1 - loss)) },
		"down": func(v float64) string { return spell(v / noise / (1 - loss)) },
	}).Parse(string(text))
	assert.NilError(t, err)
	var b strings.Builder
	assert.NilError(t, tmpl.Execute(&b, i))
	return b.String()
}

// writeSide writes the files of n runs to a new folder, each in a subfolder, and returns the new folder. edits
// are pairs of old and new text, which change the last file.
func writeSide(t *testing.T, name string, n int, loss float64, edits ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := toolFile(t, name, i, loss)
		if i == n-1 {
			for j := 0; j < len(edits); j += 2 {
				assert.Assert(t, strings.Contains(text, edits[j]), "%s lacks %q", name, edits[j])
				text = strings.ReplaceAll(text, edits[j], edits[j+1])
			}
		}
		file := name
		if name == "evalscope.json" {
			file = "benchmark_summary.json"
		}
		path := filepath.Join(dir, fmt.Sprint(i), file)
		assert.NilError(t, os.Mkdir(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// gateFiles runs benchgate and returns its status and everything that it prints.
func gateFiles(args ...string) (int, string) {
	var stdout, stderr bytes.Buffer
	status := run(args, &stdout, &stderr)
	return status, stdout.String() + stderr.String()
}

// TestFilesOfOtherTools checks, for each format, that a loss of 5 % is a regression and that equal versions
// pass. It also checks that the error for an invalid file names the tool's key that is wrong.
func TestFilesOfOtherTools(t *testing.T) {
	type wrong struct{ old, new, want string }
	for _, c := range []struct {
		file  string
		says  string // part of the output for a regression
		wrong []wrong
	}{
		{"vllm.json", "vLLM: output_throughput 2,3", []wrong{
			{`"total_output_tokens": 201000`, `"total_output_tokens": 0`, "vLLM: total_output_tokens is 0"},
			{`"completed": 200`, `"completed": 0`, "vLLM: completed is 0"},
			{`"failed": 0`, `"failed": 3`, "vLLM: failed says that 3 of 203 requests failed"},
			{`"mean_ttft_ms": `, `"mean_ttft_ms": NaN, "x": `, "vLLM: mean_ttft_ms is NaN"},
			{`"p99_ttft_ms": 71.5`, `"p99_ttft_ms": -1`, "vLLM: p99_ttft_ms is -1"},
			{`, "p99_itl_ms": 12.5}`, ``, "the text ends early, after /median_itl_ms"},
			{`tiny-1b`, `other`, "model is other, but tiny-1b"},
		}},
		{"sglang.jsonl", "SGLang: output_throughput", []wrong{
			{`"total_output_tokens_retokenized": 200870`, `"total_output_tokens_retokenized": 0`, "SGLang: total_output_tokens_retokenized is 0"},
			{`"completed": 200`, `"completed": 0`, "SGLang: completed is 0"},
			{`"p99_ttft_ms": 71.5`, `"p99_ttft_ms": 0.0`, "SGLang: p99_ttft_ms is 0"},
			{`"tag": null`, `"errors": ["", "refused"]`, "SGLang: errors says that 1 of 2 requests failed"},
			{`, "accept_length": null}`, ``, "the text ends early"},
		}},
		{"evalscope.json", "EvalScope: Output Throughput (tok/s)", []wrong{
			{`"Success Requests": 200`, `"Success Requests": 0`, "EvalScope: Success Requests is 0"},
			{`"Failed Requests": 0`, `"Failed Requests": 9`, "EvalScope: Failed Requests says that 9 of 209"},
			{`"Avg Input Tokens": 512.0`, `"Avg Input Tokens": -1`, "EvalScope: Avg Input Tokens is -1"},
			{`1005.0}`, `1005.0`, "the text ends early"},
			{`"Output Throughput (tok/s)": `, `"Output Throughput (tok/s)": 0, "x": `, "EvalScope: Output Throughput (tok/s) is 0"},
		}},
		{"guidellm.json", "GuideLLM: benchmarks[0].metrics.output_tokens_per_second.successful.mean", []wrong{
			{`"version": 2`, `"version": 3`, "GuideLLM: metadata.version is 3: want 2 or lower"},
			{`"errored": 0, "total": 200`, `"errored": 2, "total": 202`, "benchmarks[0].scheduler_metrics.requests_made.errored says that 2 of 202"},
			{`"total_sum": 201000`, `"total_sum": 0`, "metrics.output_token_count.successful.total_sum is 0"},
			{`}}}}]}`, `}}`, "the text ends early, after /benchmarks/0/metrics"},
		}},
		{"guidellm.csv", "GuideLLM: row 1: Token Throughput.Successful Output Tokens/Sec.Mean", []wrong{
			{`constant,200,0`, `constant,0,200`, "Request Counts.Successful is 0"},
			{`,1005,`, `,`, "Token Throughput.Successful Output Tokens/Sec.Mean is missing: was the file cut off?"},
			{`constant,200,0`, `constant,198,2`, "Request Counts.Errored says that 2 of 200"},
			{`,1005,`, `,0,0,`, "Token Throughput.Successful Output Tokens/Sec.Mean is 0"},
		}},
		{"aiperf.json", "AIPerf: output_token_throughput.avg", []wrong{
			{`"schema_version": "1.3"`, `"schema_version": "2.0"`, "AIPerf: schema_version is \"2.0\": want 1.x"},
			{`"was_cancelled": false`, `"was_cancelled": true`, "AIPerf: was_cancelled is true"},
			{`"error_summary": []`, `"error_summary": [{"count": 4}]`, "AIPerf: error_summary says that 4 of 204"},
			{`{"unit": "requests", "avg": 200}`, `{"unit": "requests", "avg": 0}`, "AIPerf: request_count.avg is 0"},
			{`, "start_time": "2026-03-02T10:17:00.274997"}`, ``, "the text ends early, after /error_summary"},
			{`"output_token_throughput": {"unit": "tokens/sec", "avg": `, `"output_token_throughput": {"unit": "tokens/sec", "avg": 0, "x": `, "AIPerf: output_token_throughput.avg is 0"},
		}},
		{"aiperf.csv", "AIPerf: output_token_throughput.avg", []wrong{
			{"Error Request Count,0", "Error Request Count,5", "AIPerf: error_request_count.avg says that 5 of 205"},
			{"Request Count,200", "Request Count,0", "AIPerf: request_count.avg is 0"},
			{",7.10,7.90,0.30", "", "has 5 of 8 columns"},
			{"Output Token Throughput (tokens/sec),", "Output Token Throughput (tokens/sec),0,", "AIPerf: output_token_throughput.avg is 0"},
			{"Request Throughput (requests/sec),", "Other (requests/sec),", "AIPerf: request_throughput is missing, the last row: was the file cut off?"},
		}},
		{"genaibench.json", "genai-bench: aggregated_metrics.mean_output_throughput_tokens_per_s", []wrong{
			{`"num_error_requests": 0`, `"num_error_requests": 1`, "aggregated_metrics.num_error_requests says that 1 of 201"},
			{`"num_completed_requests": 200`, `"num_completed_requests": 0`, "num_completed_requests is 0"},
			{`"_time_unit": "s"`, `"_time_unit": "h"`, `_time_unit is "h"`},
			{`, "_time_unit": "s"}`, ``, "the text ends early"},
			{`"mean_output_throughput_tokens_per_s": `, `"mean_output_throughput_tokens_per_s": 0, "x": `, "genai-bench: aggregated_metrics.mean_output_throughput_tokens_per_s is 0"},
		}},
		{"inferenceperf.json", "inference-perf: successes.throughput.output_tokens_per_sec", []wrong{
			{`"failures": {"count": 0`, `"failures": {"count": 7`, "inference-perf: failures.count says that 7 of 207"},
			{`"successes": {"count": 200`, `"successes": {"count": 0`, "inference-perf: successes.count is 0"},
			{`"request_latency": null}}`, ``, "the text ends early, after /failures/count"},
			{`"output_tokens_per_sec": `, `"output_tokens_per_sec": 0, "x": `, "inference-perf: successes.throughput.output_tokens_per_sec is 0"},
		}},
		{"llamabench.json", "llama-bench: [1].avg_ts", []wrong{
			{`, "samples_ts": [44.1, 44.9]}]`, ``, "the text ends early"},
			{`"a CPU"`, `"b CPU"`, "cpu_info is b CPU, but a CPU"},
			{`"avg_ts": `, `"avg_ts": 0, "x": `, "llama-bench: [0].avg_ts is 0"},
		}},
		{"llamabench.csv", "llama-bench: row 1: avg_ts", []wrong{
			{`,"2.5"`, ``, "stddev_ts is missing: was the file cut off?"},
			{`"128","0","1","`, `"128","0","1","0","`, "llama-bench: row 2: avg_ts is 0"},
		}},
		{"llmperf.json", "LLMPerf: results_mean_output_throughput_token_per_s", []wrong{
			{`"results_number_errors": 0`, `"results_number_errors": 2`, "LLMPerf: results_number_errors says that 2 of"},
			{`"results_num_completed_requests": 200`, `"results_num_completed_requests": 0`, "LLMPerf: results_num_completed_requests is 0"},
			{`"results_number_errors": 0, `, `"results_number_errors": -1, `, "LLMPerf: results_number_errors is -1"},
			{`"results_mean_output_throughput_token_per_s": `, `"results_mean_output_throughput_token_per_s": 0, "x": `, "LLMPerf: results_mean_output_throughput_token_per_s is 0"},
		}},
		{"locust.csv", "Locust: row 1: Requests/s", []wrong{
			{"completions,200,0", "completions,200,3", "Locust: row 1: Failure Count says that 3 of 200"},
			{"completions,200,0", "completions,0,0", "Request Count is 0"},
			{",7000,7100,7500,8100,9000,9000,9000", "", "has 15 of 22 columns"},
			{",Aggregated,", "GET,/health,", "Locust: Aggregated is missing, the last row: was the file cut off?"},
		}},
		{"llmbench.csv", "Locust: METRIC time_to_first_token", []wrong{
			{"num_tokens,200,0,1005,1005", "num_tokens,200,0,0,0", "Locust: METRIC num_tokens is 0"},
			{"completions,200,0", "completions,200,9", "Locust: row 1: Failure Count says that 9 of 200"},
		}},
		{"k6.json", "k6: metrics.http_reqs.rate", []wrong{
			{`"value": 0}`, `"value": 0.02}`, "k6: metrics.http_req_failed says that 4 of 200"},
			{`{"count": 200, "rate"`, `{"count": 0, "rate"`, "k6: metrics.http_reqs.count is 0"},
			{`"rate": 2.37}}}`, ``, "the text ends early"},
		}},
		{"k6new.json", "k6: results.metrics.llm_output_tokens.rate", []wrong{
			{`"version": "1.0.0"`, `"version": "2.0.0"`, `k6: version is "2.0.0": want 1.x`},
			{`"count": 201000`, `"count": 0`, "k6: results.metrics.llm_output_tokens.count is 0"},
			{`"values": {"rate": 0, `, `"values": {"rate": 0.01, `, "k6: results.metrics.llm_failed says that 2 of 200"},
		}},
		{"llmd.yaml", "llm-d Benchmark Report: results.request_performance.aggregate.throughput.output_token_rate.mean", []wrong{
			{"'0.2'", "'0.3'", `version is "0.3": want 0.1, 0.2, 0.2.1`},
			{"failures: 0", "failures: 2", "requests.failures says that 2 of 200"},
			{"total: 200", "total: 0", "requests.total is 0"},
			{"units: s}", "units: days}", `time_to_first_token.units is "days"`},
			{"output_token_rate: {mean: ", "output_token_rate: {mean: 0, x: ", "throughput.output_token_rate.mean is 0"},
			{"version: '0.2'\n", "", "llm-d Benchmark Report: version is missing, the last key of a report: was the file cut off?"},
		}},
		{"mlperf.json", "MLPerf Endpoints: tps", []wrong{
			{`"complete": true`, `"complete": false`, "MLPerf Endpoints: complete is false"},
			{`"n_samples_failed": 0`, `"n_samples_failed": 1`, "n_samples_failed says that 1 of 201"},
			{`"tps": `, `"tps": 0, "x": `, "MLPerf Endpoints: tps is 0"},
		}},
		{"ollama.txt", "Ollama's bench: step=generate token/sec", []wrong{
			{"Quant: Q8_0\n", "Quant: Q8_0\nBenchmarkModel/name=tiny/step=generate 1 0 ns/token 0 token/sec\n", "ns/token is 0"},
			{"name=tiny/step=total", "name=tiny/step=load", "Ollama's bench: step=total has 0 of 1 lines: was the file cut off?"},
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			old, same, worse := writeSide(t, c.file, 8, 0), writeSide(t, c.file, 8, 0), writeSide(t, c.file, 8, 0.05)
			status, text := gateFiles(old, worse)
			assert.Assert(t, status == command.Regression && strings.Contains(text, c.says), "%d\n%s", status, text)
			status, text = gateFiles(old, same)
			assert.Assert(t, status == 0, "%d\n%s", status, text)
			status, text = gateFiles(writeSide(t, c.file, 3, 0), writeSide(t, c.file, 3, 0.05))
			assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "3 old and 3 new samples: want at least 6"), "%d\n%s", status, text)
			for _, w := range c.wrong {
				status, text = gateFiles(old, writeSide(t, c.file, 8, 0, w.old, w.new))
				assert.Assert(t, status == command.CannotJudge && strings.Contains(text, w.want), "%s: %d\n%s", w.new, status, text)
			}
		})
	}
}

// TestUnequalLoads checks that differing loads are reported with the tool's own key.
func TestUnequalLoads(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"vllm.json", `"max_concurrency": 16`, `"max_concurrency": 8`, "vLLM: max_concurrency is 8, but 16 in "},
		{"vllm.json", `"request_rate": "inf"`, `"request_rate": 4`, "vLLM: request_rate is 4, but inf in "},
		{"sglang.jsonl", `"request_rate": Infinity`, `"request_rate": 4`, "SGLang: request_rate is 4, but inf in "},
		{"guidellm.json", `"rate": 2.0`, `"rate": 3.0`, "GuideLLM: benchmarks[0].config.strategy.rate is 3, but 2 in "},
		{"aiperf.json", `"concurrency": 16`, `"concurrency": 8`, "AIPerf: input_config.phases[1].concurrency is 8, but 16 in "},
		{"genaibench.json", `"num_concurrency": 16`, `"num_concurrency": 8`, "genai-bench: aggregated_metrics.num_concurrency is 8, but 16 in "},
		{"inferenceperf.json", `"requested_rate": 2.0`, `"requested_rate": 3.0`, "inference-perf: load_summary.requested_rate is 3, but 2 in "},
		{"llamabench.csv", `"128"`, `"64"`, "missing in "},
		{"evalscope.json", `"Concurrency": 16`, `"Concurrency": 8`, "EvalScope: Concurrency is 8, but 16 in "},
		{"guidellm.csv", "constant", "throughput", "GuideLLM: row 1: Benchmark.Strategy is throughput, but constant in "},
		{"llamabench.json", `"n_threads": 2`, `"n_threads": 4`, "llama-bench: [0].n_threads is 4, but 2 in "},
		{"llmperf.json", `"num_concurrent_requests": 16`, `"num_concurrent_requests": 8`, "LLMPerf: num_concurrent_requests is 8, but 16 in "},
		{"mlperf.json", `"n_samples_issued": 200`, `"n_samples_issued": 100`, "MLPerf Endpoints: n_samples_issued is 100, but 200 in "},
		{"ollama.txt", "name=tiny", "name=other", "Ollama's bench: name is other, but tiny in "},
		{"locust.csv", "/v1/chat/completions", "/v1/completions", "Locust: row 1: Name is /v1/completions, but /v1/chat/completions in "},
		{"llmd.yaml", "rate_qps: 2", "rate_qps: 3", "llm-d Benchmark Report: scenario.load.standardized.rate_qps is 3, but 2 in "},
	} {
		old, new := t.TempDir(), t.TempDir()
		for i := range 6 {
			text := toolFile(t, c.file, i, 0)
			assert.Assert(t, strings.Contains(text, c.old))
			name := fmt.Sprintf("%d%s", i, filepath.Ext(c.file))
			assert.NilError(t, os.WriteFile(filepath.Join(old, name), []byte(text), 0o600))
			assert.NilError(t, os.WriteFile(filepath.Join(new, name), []byte(strings.ReplaceAll(text, c.old, c.new)), 0o600))
		}
		status, text := gateFiles(filepath.Join(old, "*"), filepath.Join(new, "*"))
		assert.Assert(t, status == command.CannotJudge && strings.Contains(text, c.want), "%s: %d\n%s", c.file, status, text)
	}
}

// TestRunsOfOneFile checks that several runs appended to one file count as one sample, and that they count
// separately with -one-start.
func TestRunsOfOneFile(t *testing.T) {
	var paths [2]string
	for side := range paths {
		var text string
		for i := range 8 {
			text += toolFile(t, "vllm.json", i, 0)
		}
		paths[side] = filepath.Join(t.TempDir(), "all.json")
		assert.NilError(t, os.WriteFile(paths[side], []byte(text), 0o600))
	}
	status, text := gateFiles(paths[0], paths[1])
	assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "all.json: VLLM/rate=inf/concurrency=16: 8 results of one process are one observation"), "%d\n%s", status, text)
	status, text = gateFiles("-one-start", paths[0], paths[1])
	assert.Assert(t, status == 0 && strings.Contains(text, "-one-start"), "%d\n%s", status, text)
}

// TestFailedRequestsTolerated checks -max-fail.
func TestFailedRequestsTolerated(t *testing.T) {
	old, new := writeSide(t, "vllm.json", 6, 0), writeSide(t, "vllm.json", 6, 0, `"failed": 0`, `"failed": 2`)
	status, text := gateFiles("-max-fail=0.01", old, new)
	assert.Assert(t, status == 0 && strings.Contains(text, "2 of 202 requests failed"), "%d\n%s", status, text)
	status, text = gateFiles("-max-fail=2", old, new)
	assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "want a share from 0 to 1"), "%d\n%s", status, text)
}

// TestConvert checks that the gate reads a converted side, and that a file of another kind is an error.
func TestConvert(t *testing.T) {
	old, worse := writeSide(t, "vllm.json", 6, 0), writeSide(t, "vllm.json", 6, 0.05)
	var files []string
	for _, side := range []string{old, worse} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, run([]string{"convert", side}, &stdout, &stderr), 0)
		assert.Equal(t, stderr.String(), "")
		files = append(files, filepath.Join(t.TempDir(), "side.txt"))
		assert.NilError(t, os.WriteFile(files[len(files)-1], stdout.Bytes(), 0o600))
	}
	status, text := gateFiles(files...)
	assert.Assert(t, status == command.Regression, "%d\n%s", status, text)
	status, text = gateFiles(old, files[1]) // a folder of vLLM's files with a converted file
	assert.Assert(t, status == command.Regression && strings.Contains(text, "vLLM: output_throughput"), "%d\n%s", status, text)
	log := filepath.Join(t.TempDir(), "a.log")
	assert.NilError(t, os.WriteFile(log, []byte("started\n"), 0o600))
	status, text = gateFiles("convert", log)
	assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "no result file that is known"), "%d\n%s", status, text)
	status, text = gateFiles("convert")
	assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "no files"), "%d\n%s", status, text)
}

// TestConvertEmpty checks that an empty file does not become a process that passed.
func TestConvertEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.txt")
	assert.NilError(t, os.WriteFile(path, nil, 0o666))
	var stdout, stderr bytes.Buffer
	assert.Equal(t, run([]string{"convert", path}, &stdout, &stderr), 0)
	assert.Equal(t, stdout.String(), "")
}
