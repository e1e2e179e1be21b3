package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"gotest.tools/v3/assert"
)

// writeToolRuns writes n files of a tool's runs to a new folder, and returns it. edit changes the text of the i-th run.
func writeToolRuns(t *testing.T, name string, n int, edit func(i int, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := edit(i, toolFile(t, name, i, 0))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d%s", i, filepath.Ext(name))), []byte(text), 0o600))
	}
	return dir
}

// TestUnequalSettings checks that settings in which the sides differ are named, whether or not benchgate has heard of them, and that
// -ignore allows them.
func TestUnequalSettings(t *testing.T) {
	for _, c := range []struct{ file, before, key, old, new, config string }{ // before is the text in front of which the setting is added
		{"llamabench.json", `"build_commit"`, "n_cpu_moe", "0", "20", "n_cpu_moe is 20, but 0 in "},
		{"llamabench.json", `"build_commit"`, "no_kv_offload", "false", "true", "no_kv_offload is true, but false in "},
		{"llamabench.json", `"build_commit"`, "use_mmap", "true", "false", "use_mmap is false, but true in "},
		{"llamabench.json", `"build_commit"`, "tensor_buft_overrides", `"none"`, `"exps=CPU"`, "tensor_buft_overrides is exps=CPU, but none in "},
		{"llamabench.json", `"build_commit"`, "devices", `"auto"`, `"CUDA1"`, "devices is CUDA1, but auto in "},
		{"llamabench.json", `"build_commit"`, "main_gpu", "0", "1", "main_gpu is 1, but 0 in "},
		{"llamabench.json", `"build_commit"`, "of_tomorrow", "0", "1", "of_tomorrow is 1, but 0 in "},
		{"llamabench.json", `"build_commit"`, "model_filename", `"/a/x.gguf"`, `"/b/y.gguf"`, "model_filename is y.gguf, but x.gguf in "},
		{"vllm.json", `"date"`, "max_num_seqs", `"64"`, `"256"`, "max_num_seqs is 256, but 64 in "},
		{"vllm.json", `"date"`, "enable_prefix_caching", "true", "false", "enable_prefix_caching is false, but true in "},
		{"vllm.json", `"date"`, "gpu_memory_utilization", "0.8", "0.9", "gpu_memory_utilization is 0.9, but 0.8 in "},
		{"vllm.json", `"date"`, "ramp_up_end_rps", "5", "6", "ramp_up_end_rps is 6, but 5 in "},
		{"sglang.jsonl", `"tag"`, "server_info", `{"tp_size": 1}`, `{"tp_size": 2}`, "tp_size is 2, but 1 in "},
		{"sglang.jsonl", `"tag"`, "server_info", `{"speculative": {"draft": null}}`, `{"speculative": {"draft": 4}}`, "speculative.draft is 4, but not set in "},
		{"aiperf.json", `"models"`, "datasets", `[{"prompts": {"isl": {"mean": 512}}}]`, `[{"prompts": {"isl": {"mean": 513}}}]`, "datasets[0].prompts.isl.mean is 513, but 512 in "},
		{"guidellm.json", `"backend"`, "data", `[{"output_tokens": 1005}]`, `[{"output_tokens": 1006}]`, "data[0].output_tokens is 1006, but 1005 in "},
		{"llmperf.json", `"version"`, "stddev_input_tokens", "0", "50", "stddev_input_tokens is 50, but 0 in "},
		{"mlperf.json", `"version"`, "run_config", `{"streaming": true}`, `{"streaming": false}`, "streaming is false, but true in "},
	} {
		side := func(value string) string {
			return writeToolRuns(t, c.file, 6, func(_ int, text string) string {
				assert.Assert(t, strings.Contains(text, c.before), c.file)
				return strings.ReplaceAll(text, c.before, fmt.Sprintf("%q: %s, %s", c.key, value, c.before))
			})
		}
		old, new := side(c.old), side(c.new)
		status, text := gateFiles(old, new)
		assert.Check(t, status == command.CannotJudge && strings.Contains(text, c.config), "%s: %s: %d\n%s", c.file, c.key, status, text)
		key, _, _ := strings.Cut(c.config, " ")
		status, text = gateFiles("-ignore", key, old, new)
		assert.Check(t, status == 0, "%s: -ignore %s: %d\n%s", c.file, key, status, text)
		status, text = gateFiles(old, old)
		assert.Check(t, !strings.Contains(text, key), "%s: %s is equal in all files: %d\n%s", c.file, key, status, text)
	}
}

// TestSeveralBenchmarksInAFolder checks that files of different settings or lengths in one folder are not pooled: half of them are
// 25 % slower, which a wide spread of all would hide. In one file they are not pooled either.
func TestSeveralBenchmarksInAFolder(t *testing.T) {
	for _, c := range []struct {
		file, old, new string // the second half of a side's files have new instead of old
		name           string // a part of the names of the slower benchmark
	}{
		{"vllm.json", `"total_input_tokens": 102400`, `"total_input_tokens": 409600`, "/in-tok=2048"},
		{"vllm.json", `"total_input_tokens": 102400`, `"total_input_tokens": 128000`, "/in-tok=640"},
		{"vllm.json", `"endpoint_type": "openai"`, `"endpoint_type": "openai-chat"`, "/endpoint_type=openai-chat"},
		{"vllm.json", `"label": null`, `"max_num_seqs": 64`, "/max_num_seqs=64"},
		{"aiperf.json", `"input_sequence_length": {"unit": "tokens", "avg": 512}`, `"input_sequence_length": {"unit": "tokens", "avg": 2048}`, "/in-tok=2048"},
		{"llamabench.json", `"build_commit": "abc"`, `"build_commit": "abc", "n_cpu_moe": 20`, "/n_cpu_moe=20"},
		{"sglang.jsonl", `"tag": null`, `"server_info": {"tp_size": 2}`, "/tp_size=2"},
	} {
		side := func(loss float64) (folder, file string) {
			var all string
			folder = writeToolRuns(t, c.file, 16, func(i int, text string) string {
				if i >= 8 {
					text = toolFile(t, c.file, i, loss)
					assert.Assert(t, strings.Contains(text, c.old), c.old)
					text = strings.ReplaceAll(text, c.old, c.new)
				}
				all += text
				return text
			})
			file = filepath.Join(t.TempDir(), "all"+filepath.Ext(c.file))
			assert.NilError(t, os.WriteFile(file, []byte(all), 0o600))
			return folder, file
		}
		old, oldFile := side(0)
		same, _ := side(0)
		slow, slowFile := side(0.25)
		status, text := gateFiles("-v", old, same)
		assert.Check(t, status == 0 && strings.Contains(text, c.name), "%s: %d\n%s", c.new, status, text)
		for _, args := range [][]string{{old, slow}, {"-one-start", oldFile, slowFile}} {
			status, text = gateFiles(args...)
			last := text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:]
			assert.Check(t, status == command.Regression && strings.Contains(last, c.name[1:]), "%s: %d\n%s", c.new, status, text)
		}
	}
}

// TestColumnOfSettings checks that -col compares files of one folder by a setting.
func TestColumnOfSettings(t *testing.T) {
	dir := writeToolRuns(t, "vllm.json", 16, func(i int, text string) string {
		if i >= 8 {
			text = strings.Replace(toolFile(t, "vllm.json", i, 0.25), `"endpoint_type": "openai"`, `"endpoint_type": "openai-chat"`, 1)
		}
		return text
	})
	status, text := gateFiles("-col=endpoint_type@(openai openai-chat)", dir)
	assert.Assert(t, status == command.Regression && strings.Contains(text, "-25.00%"), "%d\n%s", status, text)
}

// TestMeasuredSetting checks that an unknown result of a new version, which differs in each file, ends in a refusal that says what to
// do, and not in a row for each file without a word.
func TestMeasuredSetting(t *testing.T) {
	side := func(offset int) string {
		return writeToolRuns(t, "vllm.json", 6, func(i int, text string) string {
			return strings.Replace(text, `"date"`, fmt.Sprintf(`"energy_j": %d.5, "date"`, offset+i), 1)
		})
	}
	old, new := side(100), side(200)
	status, text := gateFiles(old, new)
	assert.Assert(t, status == command.CannotJudge && strings.Contains(text, "vLLM: energy_j is 200.5, but 100.5 in ") && strings.Contains(text, "(benchgate -ignore=energy_j allows others)"), "%d\n%s", status, text)
	status, text = gateFiles("-ignore=energy_j", old, new)
	assert.Assert(t, status == 0, "%d\n%s", status, text)
}

// TestModelBeside checks that settings in a file beside the results are compared: the model of EvalScope and of genai-bench.
func TestModelBeside(t *testing.T) {
	const folders = "../../internal/resultfile/testdata/folders/"
	for _, c := range []struct{ folder, old, new, want, ignore string }{
		{"evalscope/closed", `"model": "mock-model"`, `"model": "other"`, "model is other, but mock-model in ", "model"},
		{"evalscope/open", `"max_tokens": 8`, `"max_tokens": 9`, "max_tokens is 9, but 8 in ", "max_tokens"},
		{"genai-bench", `"model": "mock-model"`, `"model": "other"`, "model is other, but mock-model in ", "model"},
		{"genai-bench", `"server_gpu_type": "H100"`, `"server_gpu_type": "H200"`, "server_gpu_type is H200, but H100 in ", "server_gpu_type"},
		{"aiperf/profile_runs/run_0001", `"name": "mock-model"`, `"name": "other"`, "model is other, but mock-model in ", "model"},
		{"guidellm", `"model": "mock-model"`, `"model": "other"`, "model is other, but mock-model in ", "model,backend.model"},
	} {
		side := func(edit func(string) string) string {
			dir := t.TempDir()
			for i := range 6 {
				from := os.DirFS(filepath.Join(folders, c.folder))
				to := filepath.Join(dir, fmt.Sprint(i))
				assert.NilError(t, os.CopyFS(to, from))
				assert.NilError(t, filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					text, err := os.ReadFile(path)
					if err != nil {
						return err
					}
					return os.WriteFile(path, []byte(edit(string(text))), 0o600)
				}))
			}
			return dir
		}
		same := func(s string) string { return s }
		old, equal := side(same), side(same)
		other := side(func(s string) string { return strings.ReplaceAll(s, c.old, c.new) })
		status, text := gateFiles(old, equal)
		assert.Check(t, status == 0, "%s: %d\n%s", c.folder, status, text)
		status, text = gateFiles(old, other)
		assert.Check(t, status == command.CannotJudge && strings.Contains(text, c.want), "%s: %d\n%s", c.folder, status, text)
		status, text = gateFiles("-ignore", c.ignore, old, other)
		assert.Check(t, status == 0, "%s: %d\n%s", c.folder, status, text)
	}
}

// TestConvertFolders checks that convert prints results and nothing else of what tools leave in a folder.
func TestConvertFolders(t *testing.T) {
	for _, folder := range []string{"aiperf", "evalscope", "genai-bench", "guidellm", "locust"} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, run([]string{"convert", "../../internal/resultfile/testdata/folders/" + folder}, &stdout, &stderr), 0, "%s", &stderr)
		for line := range strings.Lines(stdout.String()) {
			key, _, setting := strings.Cut(line, ":")
			ok := setting && key == strings.ToLower(key) && !strings.Contains(key, " ") || strings.HasPrefix(line, "Unit ") || line == "PASS\n" || strings.HasPrefix(line, "Benchmark") && strings.Contains(line, " 1 0 fail-% ")
			assert.Check(t, ok, "%s: %s", folder, line)
		}
	}
	for _, file := range []string{"evalscope/closed/mock-model/benchmark.log", "aiperf/aggregate/profile_export_aiperf_aggregate.csv"} {
		var stdout, stderr bytes.Buffer
		status := run([]string{"convert", "../../internal/resultfile/testdata/folders/" + file}, &stdout, &stderr)
		assert.Check(t, status == command.CannotJudge && stdout.Len() == 0, "%s: %d\n%s", file, status, &stdout)
	}
}
