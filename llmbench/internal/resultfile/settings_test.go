package resultfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
)

// readText reads a file with a text.
func readText(t *testing.T, text string) *File {
	t.Helper()
	f := &File{Path: filepath.Join(t.TempDir(), "x")}
	assert.NilError(t, f.read(strings.NewReader(text), Options{}))
	return f
}

// settingsOf returns the configuration and the settings of a file's results, each once, as key=value.
func settingsOf(f *File) (all []string) {
	for _, r := range f.Results {
		for _, s := range slices.Concat(r.Config, r.Settings) {
			if text := s.Key + "=" + s.Value; !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// TestSettings checks what each tool's example states: no result, no time and no path may be among the settings.
func TestSettings(t *testing.T) {
	text := examples(t)
	for name, want := range map[string][]string{
		"aiperf.json":        {"model=tiny-1b", "phases[0].name=warmup", "phases[0].exclude_from_results=true", "phases[0].concurrency=2", "phases[1].name=profiling", "aiperf_version=0.10.0"},
		"aiperf.csv":         nil,
		"evalscope.json":     nil,
		"genaibench.json":    {"iteration_type=num_concurrency"},
		"guidellm.json":      {"model=tiny-1b", "strategy.max_concurrency=512", "guidellm_version=0.7.3"},
		"guidellm.csv":       nil,
		"inferenceperf.json": nil,
		"k6.json":            nil,
		"k6new.json":         {"metadata.k6version=2.0.0"},
		"llamabench.json":    {"model=tiny 1B Q8_0", "backend=CPU", "build_commit", "cpu_info=a CPU"},
		"llamabench.csv":     {"model=tiny 1B Q8_0"},
		"llmd.yaml":          {"model=tiny-1b", "load_tool=inference-perf"},
		"llmperf.json":       {"model=tiny-1b", "version=2023-08-31"},
		"locust.csv":         nil,
		"llmbench.csv":       nil,
		"mlperf.json":        {"qps_window=issued", "version=1"},
		"ollama.txt":         {"params=1B", "quant=Q8_0"},
		"sglang.jsonl":       {"backend=sglang", "random_range_ratio=1"},
		"vllm.json":          {"model=tiny-1b", "backend=openai", "num_prompts=200", "endpoint_type=openai", "tokenizer_id=tiny-1b", "burstiness=1"},
	} {
		want = slices.DeleteFunc(want, func(s string) bool { return !strings.Contains(s, "=") })
		f := &File{Path: filepath.Join(t.TempDir(), "x")}
		assert.NilError(t, f.read(bytes.NewReader(text[name]), Options{}), name)
		assert.DeepEqual(t, settingsOf(f), want)
		delete(text, name)
	}
	assert.Equal(t, len(text), 0, "examples without a row")
}

// TestStated checks which keys of newer files are settings, and how they are written.
func TestStated(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	sglang := string(examples(t)["sglang.jsonl"])
	in := func(file, more string) string { return strings.Replace(file, "{", "{"+more+", ", 1) }
	for _, c := range []struct{ text, want string }{ // want begins with "no " if the key must not be a setting
		{in(vllm, `"max_num_seqs": "64"`), "max_num_seqs=64"},
		{in(vllm, `"enable_prefix_caching": true`), "enable_prefix_caching=true"},
		{in(vllm, `"gpu_memory_utilization": 0.9`), "gpu_memory_utilization=0.9"},
		{in(vllm, `"total_gpus": 8`), "total_gpus=8"},
		{in(vllm, `"max_loras": 4`), "max_loras=4"},
		{in(vllm, `"A key: of mine": "a\nb"`), "a_key__of_mine=a b"},
		{in(vllm, `"9": 1`), "setting.9=1"},
		{in(vllm, `"tool": "x"`), "setting.tool=x"},
		{in(vllm, `"extra": {"a": [1, 2], "b": [{"c": false}]}`), "extra.b[0].c=false"},
		{in(vllm, `"extra": {"a": [1, 2]}`), "extra.a=[1, 2]"},
		{in(vllm, `"lora_path": "/home/a/lora-7"`), "lora_path=lora-7"},
		{in(vllm, `"base_url": "http://10.0.0.7:8000/v1"`), "base_url=/v1"},
		{in(vllm, `"mirror": "https://me:pw@example.com/a"`), "mirror=https://example.com/a"},
		{in(vllm, `"ramp_up_strategy": "linear"`), "ramp_up_strategy=linear"},
		{in(vllm, `"goal": null`), "no goal"},
		{in(vllm, `"goal": ""`), "no goal"},
		{in(vllm, `"std_client_queue_time_ms": 3.5`), "no std_client_queue_time_ms"},
		{in(vllm, `"p99.9_e2el_including_client_queue_ms": 3.5`), "no p99.9_e2el_including_client_queue_ms"},
		{in(vllm, `"spec_decode_per_position_acceptance_rates": [0.5]`), "no spec_decode_per_position_acceptance_rates"},
		{in(vllm, `"queue_times": [0.5, 0.25]`), "no queue_times"},
		{in(vllm, `"mean_audio_rtf": 0.5, "total_audio_duration_s": 536.006, "total_audio_frames": 12864120`), "no mean_audio_rtf"},
		{in(vllm, `"total_audio_duration_s": 536.006, "total_audio_frames": 12864120`), "no total_audio_duration_s"},
		{in(vllm, `"seed": 7`), "no seed"},
		{in(vllm, `"run_uuid": "a"`), "no run_uuid"},
		{in(vllm, `"host": "10.0.0.7"`), "no host"},
		{in(vllm, `"dist_init_addr": "node-1:5000"`), "no dist_init_addr"},
		{in(vllm, `"metrics_port": 9090`), "no metrics_port"},
		{in(vllm, `"target": "localhost:8000"`), "no target"},
		{in(vllm, `"target": "none"`), "target=none"},
		{in(vllm, `"num_hosts": 2`), "num_hosts=2"},
		{in(vllm, `"urls": ["http://a:1/v1", "http://b:1/v1"]`), "urls=[/v1, /v1]"},
		{in(vllm, `"api_key": "sk-1"`), "no api_key"},
		{in(vllm, `"HF_TOKEN": "hf_1"`), "no hf_token"},
		{in(vllm, `"extra_headers": {"x": "Bearer 1"}`), "no extra_headers.x"},
		{in(vllm, `"env": [{"name": "OPENAI_API_KEY", "value": "sk-1"}]`), "no env[0].value"},
		{in(vllm, `"arguments": "serve m --api-key sk-1"`), "arguments=(left out, because it may hold a secret; the rest has the checksum 7c895e42)"},
		{in(vllm, `"access_token": {"value": "sk-1"}`), "no access_token.value"},
		{in(vllm, `"no_host": true`), "no_host=true"},
		{in(vllm, `"ignore_eos_token": true`), "ignore_eos_token=true"},
		{in(vllm, `"num_draft_token": 3`), "num_draft_token=3"},
		{in(vllm, `"disable_auth": false`), "disable_auth=false"},
		{in(vllm, `"spec_decode_method": "eagle"`), "spec_decode_method=eagle"},
		{in(vllm, `"request_goodput:": 3.5`), "no request_goodput_"},
		{in(vllm, `"benchmark_start_time_unix": 1700000000.5`), "no benchmark_start_time_unix"},
		{in(sglang, `"server_info": {"tp_size": 4, "random_seed": 3, "nccl_port": 4, "max_total_num_tokens": 12345, "version": "0.5", "internal_states": [{"last_gen_throughput": 3.5}]}`), "tp_size=4"},
		{in(sglang, `"server_info": {"tp_size": 4, "random_seed": 3, "nccl_port": 4}`), "no random_seed"},
		{in(sglang, `"server_info": {"nccl_port": 4}`), "no nccl_port"},
		{in(sglang, `"server_info": {"max_total_num_tokens": 12345}`), "no max_total_num_tokens"},
		{in(sglang, `"server_info": {"internal_states": [{"last_gen_throughput": 3.5}]}`), "no internal_states[0].last_gen_throughput"},
		{in(sglang, `"server_info": {"backend": "x"}`), "setting.backend=x"},
		{in(sglang, `"fixed_output_len": 7`), "fixed_output_len=7"},
	} {
		all := settingsOf(readText(t, c.text))
		if key, not := strings.CutPrefix(c.want, "no "); not {
			assert.Check(t, !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, key+"=") }), "%s: %q", c.want, all)
		} else {
			assert.Check(t, slices.Contains(all, c.want), "%s: %q", c.want, all)
		}
		written := string((&Side{Files: []*File{readText(t, c.text)}}).Text(nil).Bytes)
		for _, secret := range []string{"sk-1", "hf_1", "Bearer", "me:pw"} {
			assert.Check(t, !strings.Contains(written, secret), "%s: %s", c.want, written)
		}
	}
}

// TestSettingsOfRuns checks settings in parts of files that also have results.
func TestSettingsOfRuns(t *testing.T) {
	csv, err := os.ReadFile("testdata/folders/guidellm/benchmarks.csv")
	assert.NilError(t, err)
	perf := string(examples(t)["inferenceperf.json"])
	for _, c := range []struct{ text, old, new, want string }{
		{string(csv), `""prompt_tokens"":64`, `""prompt_tokens"":2048`, "data[0].prompt_tokens=2048"},
		{string(csv), `""guidellm_version"":""0.8.1""`, `""guidellm_version"":""0.9""`, "guidellm_version=0.9"},
		{perf, `"load_summary": {`, `"load_summary": {"load_type": "poisson", "schedule_delay": {"mean": 0.5},`, "load_summary.load_type=poisson"},
	} {
		text := strings.ReplaceAll(c.text, c.old, c.new)
		assert.Assert(t, text != c.text, c.old)
		all := settingsOf(readText(t, text))
		assert.Check(t, slices.Contains(all, c.want), "%s: %q", c.want, all)
		assert.Check(t, !strings.Contains(fmt.Sprint(all), "delay."), "%q", all)
	}
}

// TestSettingsBesideSecrets checks that texts with secrets differ if the rest differs, and only then.
func TestSettingsBesideSecrets(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	value := func(arguments string) string {
		f := readText(t, strings.Replace(vllm, "{", `{"arguments": "`+arguments+`", `, 1))
		return benchfile.Lookup(f.Results[0].Settings, "arguments")
	}
	for _, secret := range []string{"--api-key %s", "--api-key=%s", "--api-key '%s'", "OPENAI_API_KEY=%s", "-H 'Authorization: Bearer %s'", "--hf-token %s", "--password: %s"} {
		with := func(key, more string) string {
			return value("serve m " + strings.ReplaceAll(secret, "%s", key) + " " + more)
		}
		assert.Check(t, with("sk-1", "--tp 2") == with("other-2", "--tp 2"), secret)
		assert.Check(t, with("sk-1", "--tp 2") != with("sk-1", "--tp 4"), secret)
	}
}

// TestLongSettings checks that long values that differ at their ends stay apart, and that there is a limit.
func TestLongSettings(t *testing.T) {
	vllm := string(examples(t)["vllm.json"])
	value := func(end string) string {
		f := readText(t, strings.Replace(vllm, "{", `{"prompt": "`+strings.Repeat("word ", 80)+end+`", `, 1))
		return benchfile.Lookup(f.Results[0].Settings, "prompt")
	}
	assert.Assert(t, value("a") != value("b") && len(value("a")) < 200, "%q", value("a"))
	var b strings.Builder
	for i := range maxSettings + 1 {
		b.WriteString(`"x` + itoa(i) + `": 1, `)
	}
	err := (&File{Path: "x"}).read(strings.NewReader(strings.Replace(vllm, "{", "{"+b.String(), 1)), Options{})
	assert.ErrorContains(t, err, "is one of more than 2000 settings")
}

// variant returns vLLM's example with an addition to its keys, and with mean lengths of prompts and answers.
func variant(t *testing.T, more string, in, out string) string {
	t.Helper()
	text := strings.Replace(string(examples(t)["vllm.json"]), "{", "{"+more, 1)
	return strings.NewReplacer(`"total_input_tokens": 102400`, `"total_input_tokens": `+in, `"total_output_tokens": 201000`, `"total_output_tokens": `+out).Replace(text)
}

// TestDistinguish checks which files of a folder are samples of one benchmark.
func TestDistinguish(t *testing.T) {
	const base = "VLLM/rate=inf/concurrency=16"
	same := []string{"", "102400", "201000"}
	for _, c := range []struct {
		name  string
		files [2][][]string // of both sides; each has more keys and the numbers of tokens of 200 requests
		want  [2][]string   // the names of benchmarks, each once, without base
		note  string        // a part of the notes, or "" for none
	}{
		{"equal files", [2][][]string{{same, same}, {same, same}}, [2][]string{{""}, {""}}, ""},
		{"two values", [2][][]string{{{`"n": 0, `}, {`"n": 20, `}}, {{`"n": 0, `}, {`"n": 20, `}}}, [2][]string{{"/n=0", "/n=20"}, {"/n=0", "/n=20"}}, "n is 0, 20, so these are different benchmarks (benchgate -ignore=n makes"},
		{"a key that some files lack", [2][][]string{{{`"n": 0, `}, {``}}, {{`"n": 0, `}, {``}}}, [2][]string{{"/n=0", "/n=not_set"}, {"/n=0", "/n=not_set"}}, "n is 0, not set"},
		{"keys that go together", [2][][]string{{{`"a": 1, "b": 2, `}, {`"a": 3, "b": 4, `}}, {{`"a": 1, "b": 2, `}}}, [2][]string{{"/a=1", "/a=3"}, {"/a=1"}}, "a is 1, 3, so these are different benchmarks (benchgate -ignore=a,b makes"},
		{"sides that differ", [2][][]string{{{`"n": 0, `}}, {{`"n": 20, `}}}, [2][]string{{""}, {""}}, ""},
		{"an ignored key", [2][][]string{{{`"commit": "a", `}, {`"commit": "b", `}}, {same}}, [2][]string{{""}, {""}}, ""},
		{"two lengths of prompts", [2][][]string{{{``, "102400"}, {``, "409600"}}, {{``, "102400"}, {``, "409600"}}}, [2][]string{{"/in-tok=512", "/in-tok=2048"}, {"/in-tok=512", "/in-tok=2048"}}, ""},
		{"two lengths of answers", [2][][]string{{{``, "102400", "20000"}, {``, "102400", "40000"}}, {{``, "102400", "20000"}}}, [2][]string{{"/out-tok=100", "/out-tok=200"}, {"/out-tok=100"}}, ""},
		{"lengths that scatter", [2][][]string{{{``, "102400"}, {``, "105000"}, {``, "108000"}, {``, "112000"}}, {{``, "106000"}}}, [2][]string{{""}, {""}}, "in-tok/req is from 512 to 560, more than 2% apart"},
		{"lengths that scatter a little", [2][][]string{{{``, "102400"}, {``, "103400"}}, {same}}, [2][]string{{""}, {""}}, ""},
		{"sides with other lengths", [2][][]string{{{``, "102400"}}, {{``, "409600"}}}, [2][]string{{""}, {""}}, ""},
	} {
		var sides []*Side
		for _, files := range c.files {
			s := &Side{Path: "side"}
			for _, f := range files {
				f = append(f, same[len(f):]...)
				s.Files = append(s.Files, readText(t, variant(t, f[0], f[1], f[2])))
			}
			sides = append(sides, s)
		}
		Distinguish(Options{Ignore: []string{"commit"}}, sides...)
		var notes []string
		for i, s := range sides {
			var names []string
			for _, r := range s.results() {
				if name := strings.TrimPrefix(r.Name, base); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			assert.Check(t, slices.Equal(names, c.want[i]), "%s: side %d: %q", c.name, i, names)
			notes = append(notes, s.Notes...)
		}
		assert.Check(t, (len(notes) == 0) == (c.note == "") && strings.Contains(strings.Join(notes, "\n"), c.note), "%s: %q", c.name, notes)
	}
}

// TestUnequal checks the error about sides that have no benchmark in common, or whose new side has settings that the old
// side lacks.
func TestUnequal(t *testing.T) {
	side := func(more ...string) *Side {
		s := &Side{Path: "side"}
		for _, m := range more {
			s.Files = append(s.Files, readText(t, variant(t, m, "102400", "201000")))
		}
		return s
	}
	for _, c := range []struct {
		name     string
		old, new *Side
		want     string // a part of the error, or ""
	}{
		{"equal", side(`"n": 1, `, `"n": 2, `), side(`"n": 1, `, `"n": 2, `), ""},
		{"one that is gone", side(`"n": 1, `, `"n": 2, `), side(`"n": 1, `), ""}, // package gate reports it
		{"one that is new", side(`"n": 1, `, `"n": 2, `), side(`"n": 1, `, `"n": 3, `), "vLLM: n is 3, but 1 in "},
		{"a measured value", side(`"v": 0.12, `, `"v": 0.13, `), side(`"v": 0.14, `, `"v": 0.15, `), "vLLM: v is 0.14, but 0.12 in "},
	} {
		Distinguish(Options{}, c.old, c.new)
		err := Unequal(c.old, c.new)
		if c.want == "" {
			assert.NilError(t, err, c.name)
			continue
		}
		assert.ErrorContains(t, err, c.want, c.name)
		assert.ErrorContains(t, err, "(benchgate -ignore="+c.want[6:7]+" allows others)", c.name)
	}
}

// TestIgnoreAll checks that what an error says users may ignore is all that keeps two sides apart.
func TestIgnoreAll(t *testing.T) {
	llama := func(more string) []byte {
		return []byte(strings.ReplaceAll(string(examples(t)["llamabench.json"]), `"n_ubatch": 512, `, more))
	}
	vllm := func(more string) []byte { return []byte(variant(t, more, "102400", "201000")) }
	for _, c := range []struct {
		old, new [][]byte
		ignore   string
	}{
		{[][]byte{llama(`"n_ubatch": 512, `)}, [][]byte{llama(`"n_ubatch": 1024, `)}, "n_ubatch"},
		{[][]byte{vllm(`"v": 0.12, "w": 1, `), vllm(`"v": 0.13, "w": 2, `)}, [][]byte{vllm(`"v": 0.14, "w": 3, `), vllm(`"v": 0.15, "w": 4, `)}, "v,w"},
	} {
		dir := t.TempDir()
		var paths []string
		for _, side := range [][][]byte{c.old, c.new} {
			paths = append(paths, filepath.Join(dir, itoa(len(paths))))
			assert.NilError(t, os.Mkdir(paths[len(paths)-1], 0o777))
			for i, text := range side {
				assert.NilError(t, os.WriteFile(filepath.Join(paths[len(paths)-1], itoa(i)), text, 0o666))
			}
		}
		_, _, err := ReadSides(paths, Options{})
		assert.ErrorContains(t, err, "(benchgate -ignore="+c.ignore+" allows others)")
		_, _, err = ReadSides(paths, Options{Ignore: strings.Split(c.ignore, ",")})
		assert.NilError(t, err)
		_, notes, err := ReadTogether(paths, Options{})
		assert.NilError(t, err)
		assert.Check(t, !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, ":") }), "%q", notes)
	}
}
