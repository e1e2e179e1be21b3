package resultfile

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRealFolders reads folders as the tools left them after a run against the mock server: AIPerf 0.13, EvalScope 1.14,
// genai-bench 0.0.5, GuideLLM 0.8.1 and Locust 2.47. Long lists are shortened.
func TestRealFolders(t *testing.T) {
	for _, c := range []struct {
		folder  string
		names   []string // of benchmarks, in the order of the files
		states  []string
		left    []string // names of files that are left out as no results
		secrets []string
	}{
		{"aiperf", []string{"AIPerf/concurrency=2", "AIPerf/concurrency=2"},
			[]string{"model=mock-model", "datasets[0].prompts.isl.mean=64", "datasets[0].prompts.osl.mean=8", "endpoint.urls=[/]", "aiperf_version=0.13.0"},
			[]string{"profile_export_aiperf_aggregate.json", "profile_export_aiperf_aggregate.csv", "server_metrics_export.json", "server_metrics_export.csv", "inputs.json", "run_config.json", "profile_export.jsonl", "profile_export_console.txt", "aiperf.log"}, nil},
		{"evalscope/closed", []string{"EvalScope/concurrency=2"}, []string{"model=mock-model", "max_tokens=8", "url=/v1/chat/completions", "number=10"},
			[]string{"benchmark.log", "performance_summary.txt", "benchmark_args.json", "workload_timeline.json", "workload_throughput.json"}, nil},
		{"evalscope/open", []string{"EvalScope/rate=20"}, []string{"model=mock-model", "open_loop=true"}, []string{"benchmark.log"}, nil},
		{"genai-bench", []string{"GenAIBench/scenario=D(64,8)/batch=1/concurrency=2"}, []string{"model=mock-model", "server_engine=vLLM", "server_gpu_type=H100", "task=text-to-text"},
			[]string{"experiment_metadata.json"}, []string{"sk-not-to-be-printed"}},
		{"guidellm", []string{"GuideLLM/strategy=concurrent/streams=2"}, []string{"model=mock-model", "data[0].prompt_tokens=64", "constraints.max_requests.args.count=10"}, nil, nil},
		{"locust", []string{"Locust/type=POST/name=_v1_chat_completions", "Locust/type=GET/name=_v1_models", "Locust/type=TTFT/name=ttft"}, nil, []string{"run_stats_history.csv", "run_failures.csv", "run_exceptions.csv", "run.html"}, nil},
	} {
		side, err := ReadSide(filepath.Join("testdata/folders", c.folder), Options{})
		assert.NilError(t, err, c.folder)
		Distinguish(Options{}, side)
		var names, left []string
		for f, r := range side.results() {
			names = append(names, r.Name)
			all := settingsOf(&File{Results: []Result{*r}})
			for _, want := range c.states {
				assert.Check(t, slices.Contains(all, want), "%s: %s: %q", f.Path, want, all)
			}
		}
		assert.DeepEqual(t, names, c.names)
		for _, p := range side.Others {
			left = append(left, filepath.Base(p))
		}
		for _, want := range c.left {
			assert.Check(t, slices.Contains(left, want), "%s: %s: %q", c.folder, want, left)
		}
		text := string(side.Text(nil).Bytes)
		for _, secret := range append(c.secrets, "/srv/bench", ":8000") {
			assert.Check(t, !strings.Contains(text, secret), "%s: %s", c.folder, text)
		}
	}
}

// TestOneOfFolder checks what a file of such a folder is if it is read alone, as by benchgate convert.
func TestOneOfFolder(t *testing.T) {
	const run = "aiperf/profile_runs/run_0001/"
	for _, c := range []struct{ file, tool, fails string }{
		{run + "profile_export_aiperf.json", "AIPerf", ""},
		{run + "profile_export_aiperf.csv", "AIPerf", ""}, // with the line Benchmark Duration (sec),0.32
		{run + "server_metrics_export.json", "", "what AIPerf read from the server's metrics"},
		{run + "profile_export_console.txt", "", "no result file that is known"},
		{"aiperf/aggregate/profile_export_aiperf_aggregate.json", "", "each of which has its own profile_export_aiperf.json"},
		{"aiperf/aggregate/profile_export_aiperf_aggregate.csv", "", "each of which has its own profile_export_aiperf.csv"},
		{"evalscope/closed/mock-model/benchmark.log", "", "no result file that is known"}, // with the line Benchmarking summary:
		{"evalscope/closed/mock-model/performance_summary.txt", "", "no result file that is known"},
		{"evalscope/closed/mock-model/parallel_2_number_10/benchmark_args.json", "", "EvalScope's settings, which are read with benchmark_summary.json"},
		{"genai-bench/run/experiment_metadata.json", "", "genai-bench's settings, which are read with the file of each load"},
		{"guidellm/benchmarks.csv", "GuideLLM", ""},
		{"locust/run_failures.csv", "", "no result file that is known"},
	} {
		f, err := Read(filepath.Join("testdata/folders", c.file), Options{})
		if c.fails != "" {
			assert.ErrorContains(t, err, c.fails, c.file)
			continue
		}
		assert.NilError(t, err, c.file)
		assert.Equal(t, f.Tool, c.tool, c.file)
		assert.Equal(t, len(f.text), 0, c.file)
	}
	f, err := Read("testdata/folders/guidellm/benchmarks.csv", Options{})
	assert.NilError(t, err)
	assert.Assert(t, slices.Contains(settingsOf(f), "model=mock-model"), "%q", settingsOf(f))
}

// TestInferencePerfConfig checks that the settings of inference-perf's stages come from the file beside them.
func TestInferencePerfConfig(t *testing.T) {
	side, err := ReadSide(write(t, map[string]string{"stage_0_lifecycle_metrics.json": string(examples(t)["inferenceperf.json"]), "config.yaml": "api:\n  type: chat\n" +
		"server:\n  model_name: m\n  base_url: http://10.0.0.7:8000\n  api_key: sk-1\nload:\n  type: poisson\n  stages:\n  - rate: 2\nstorage:\n  local_storage:\n    path: reports-1\n"}), Options{})
	assert.NilError(t, err)
	assert.DeepEqual(t, settingsOf(side.Files[0]), []string{"model=m", "api.type=chat", "server.base_url=/", "load.type=poisson"})
}

// A log before the results may begin like JSON, CSV or YAML.
func TestLogBeforeResults(t *testing.T) {
	for _, log := range []string{"[12:00:00] starting\n", "[1/3] building\n", `{"level":"info","msg":"starting"}` + "\n", "a,b\n", "version: 1\nrun: 2\n"} {
		path := filepath.Join(t.TempDir(), "a.txt")
		assert.NilError(t, os.WriteFile(path, []byte(log+"goos: linux\nBenchmarkA 1 5 ns/op\nPASS\n"), 0o666))
		f, err := Read(path, Options{})
		assert.NilError(t, err, "%q", log)
		assert.Equal(t, f.Tool, "", "%q", log)
	}
	f := readText(t, "[12:00:00] goos: linux\n[12:00:01] BenchmarkA 1 5 ns/op\n") // the gate says that the line is torn
	assert.Equal(t, f.Tool, "")
}

// TestIsGo checks which texts are in Go benchmark format.
func TestIsGo(t *testing.T) {
	for text, want := range map[string]bool{
		"BenchmarkA 1 5 ns/op\n":                        true,
		"BenchmarkA-8   \t 100\t 5 ns/op\t 7 req/s\r\n": true,
		"BenchmarkÄ 1 5 ns/op\n":                        true,
		"Benchmark 1 5 ns/op\n":                         true,
		"BenchmarkA 1 5\n":                              true, // cut
		"goos: linux\n":                                 true,
		"Unit req/s better=higher\n":                    true,
		"PASS\n":                                        true,
		"ok  \tpkg\t0.1s\n":                             true,
		"--- FAIL: BenchmarkA\n":                        true,
		"Benchmark Duration (sec),10.68\n":              false,
		"Benchmarking summary:\n":                       false,
		"Benchmarks 1 5 req/s\n":                        false, // a word
		"Benchmark results of 5 runs\n":                 false,
		"Unit tests passed\n":                           false,
		"PASSED 7 of 7\n":                               false,
		"FAILED 1 of 7\n":                               false,
		"BenchmarkRunner: 7 workers started\n":          false,
		"a,b\n1,2\n":                                    false,
		"":                                              false,
	} {
		assert.Check(t, isGo([]byte(text)) == want, "%q", text)
	}
}

// TestTables checks that a tool's table is read as such whatever its lines look like, and that other tables are no results.
func TestTables(t *testing.T) {
	locust := string(examples(t)["locust.csv"])
	f := readText(t, strings.Replace(locust, ",Aggregated,", "Unit req/s better=higher,x,1,0"+strings.Repeat(",0", 18)+"\nPASS,x,1,0"+strings.Repeat(",0", 18)+"\n,Aggregated,", 1))
	assert.Equal(t, f.Tool, "Locust")
	for _, text := range []string{"name,value\na,1\n", "2026-11-28 10:00:00,123 INFO started\nwith \"a quote\n"} {
		err := (&File{Path: "x"}).read(strings.NewReader(text), Options{})
		assert.Assert(t, err != nil && isBeside(err), "%q: %v", text, err)
	}
}

// TestLocustEvents checks which rows of Locust's table are endpoints, and which are times to the first token.
func TestLocustEvents(t *testing.T) {
	const header = "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,50%\n"
	const last = ",Aggregated,100,0,500,10,400\n"
	for _, c := range []struct{ row, want string }{ // want is the line of the row, or the note if it is left out
		{"POST,/v1,9,0,900,2,800", "BenchmarkLocust/type=POST/name=_v1 1 0 fail-% 2 req/s 900000000 mean-e2e-ns 800000000 p50-e2e-ns"},
		{"grpc,/pb.S/M,9,0,900,2,800", "BenchmarkLocust/type=grpc/name=_pb.S_M 1 0 fail-% 2 req/s 900000000 mean-e2e-ns 800000000 p50-e2e-ns"},
		{"TTFT,/v1,9,0,31,2,30", "BenchmarkLocust/type=TTFT/name=_v1 1 0 fail-% 31000000 mean-ttft-ns 30000000 p50-ttft-ns"},
		{"custom,time_to_first_token,9,0,31,2,30", "BenchmarkLocust/type=custom/name=time_to_first_token 1 0 fail-% 31000000 mean-ttft-ns 30000000 p50-ttft-ns"},
		{"first_token,chat,9,0,31,2,30", "BenchmarkLocust/type=first_token/name=chat 1 0 fail-% 31000000 mean-ttft-ns 30000000 p50-ttft-ns"},
		{"POST,/ttft,9,0,900,2,800", "BenchmarkLocust/type=POST/name=_ttft 1 0 fail-% 2 req/s 900000000 mean-e2e-ns 800000000 p50-e2e-ns"},
		{"TOKENS,output,9,0,128,2,128", "TOKENS output left out, because what events of this type count is not known"},
	} {
		f := readText(t, header+"GET,/health,9,0,1,2,1\n"+c.row+"\n"+last)
		text := string((&Side{Files: []*File{f}}).Text(nil).Bytes) + strings.Join(f.Notes, "\n")
		assert.Check(t, strings.Contains(text, c.want), "%s: %s", c.row, text)
		want := 2
		if !strings.HasPrefix(c.want, "Benchmark") {
			want = 1
		}
		assert.Check(t, strings.Count(text, "\nBenchmark") == want, "%s: %s", c.row, text)
	}
}

// TestFolder checks that links are followed, that nothing counts twice, and that what is left out is told.
func TestFolder(t *testing.T) {
	link := func(target, name string) {
		if err := os.Symlink(target, name); err != nil {
			t.Skip(err) // Windows without the right to
		}
	}
	elsewhere := write(t, map[string]string{"1.json": "{}", "sub/2.json": "{}"})
	dir := write(t, map[string]string{"a.json": "{}", "b/c.json": "{}", ".hidden": "", "real/r.json": "{}"})
	link(filepath.Join(dir, "a.json"), filepath.Join(dir, "latest.json"))
	link(elsewhere, filepath.Join(dir, "more"))
	link(filepath.Join(elsewhere, "1.json"), filepath.Join(dir, "one.json"))
	link("real", filepath.Join(dir, "again"))
	link("..", filepath.Join(dir, "b", "up"))
	link("nowhere", filepath.Join(dir, "broken"))
	link("circle", filepath.Join(dir, "circle"))
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	assert.NilError(t, err)
	defer socket.Close()
	paths, left, err := Folder(dir)
	assert.NilError(t, err)
	for i, p := range paths {
		paths[i], err = filepath.Rel(dir, p)
		assert.NilError(t, err)
	}
	slices.Sort(paths)
	assert.DeepEqual(t, paths, []string{"a.json", "b/c.json", "more/1.json", "more/sub/2.json", "real/r.json"})
	var notes []string
	for _, l := range left {
		notes = append(notes, strings.ReplaceAll(strings.ReplaceAll(l.String(), dir+"/", ""), dir, "."))
	}
	slices.Sort(notes)
	for i, want := range []string{
		"again: left out, because real is the same folder",
		"b/up: left out, because . is the same folder",
		"broken: left out, because the link leads nowhere: ",
		"circle: left out, because the link leads nowhere: ",
		"latest.json: left out, because a.json is the same file",
		"one.json: left out, because more/1.json is the same file",
		"s: left out, because it is neither a file nor a folder",
	} {
		assert.Check(t, i < len(notes) && strings.HasPrefix(notes[i], want), "%s: %q", want, notes)
	}
	assert.Equal(t, len(notes), 7, "%q", notes)

	// The folder itself may be a link.
	alias := filepath.Join(t.TempDir(), "alias")
	link(elsewhere, alias)
	paths, left, err = Folder(alias)
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprint(paths, left), fmt.Sprintf("[%s %s] []", filepath.Join(alias, "1.json"), filepath.Join(alias, "sub/2.json")))
}

// TestSameFile checks that a file counts once if a pattern matches a link to it, and if it is named beside its folder.
func TestSameFile(t *testing.T) {
	dir := write(t, map[string]string{"a.json": string(examples(t)["vllm.json"])})
	file := filepath.Join(dir, "a.json")
	if err := os.Symlink(file, filepath.Join(dir, "link.json")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		paths []string
		note  string
	}{
		{[]string{filepath.Join(dir, "*.json")}, filepath.Join(dir, "link.json") + ": left out, because " + file + " is the same file"},
		{[]string{dir, file}, file + ": counts once, although it was named twice"},
		{[]string{file, filepath.Join(dir, "link.json")}, filepath.Join(dir, "link.json") + ": left out, because " + file + " is the same file"},
	} {
		text, notes, err := ReadTogether(c.paths, Options{})
		assert.NilError(t, err)
		assert.Equal(t, strings.Count(string(text), "\nBenchmark"), 1, "%q", c.paths)
		assert.Check(t, slices.Contains(notes, c.note), "%q", notes)
	}
}
