package llmbench

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig([]string{"PATH=/bin", "LLMBENCH_MODEL="})
	assert.NilError(t, err)
	assert.DeepEqual(t, c.Backends, []string{"mock"})
	assert.DeepEqual(t, c.Serve, ServeConfig{
		Concurrency: []int{1, 8}, Burstiness: 1, Input: 512, Output: 128, Dataset: "random", Stream: true,
		Warmup: -1, Timeout: 10 * time.Minute, IdleTimeout: time.Minute, Seed: 1,
	})

	c, err = ParseConfig([]string{
		"LLMBENCH_URL=http://127.0.0.1:8000", "LLMBENCH_NAME=mine", "LLMBENCH_DIALECT=openai-completions", "LLMBENCH_MODEL=a/b",
		"LLMBENCH_API_KEY=sk-123", "LLMBENCH_OUT=out", "LLMBENCH_UNITS=all", "LLMBENCH_RATE=0.5, 32", "LLMBENCH_BURSTINESS=0.7",
		"LLMBENCH_REQUESTS=100", "LLMBENCH_OUTPUT=20", "LLMBENCH_DATASET=sharegpt:a:b.json", "LLMBENCH_STREAM=true",
		"LLMBENCH_WARMUP=0", "LLMBENCH_TIMEOUT=1m", "LLMBENCH_IDLE_TIMEOUT=5s", "LLMBENCH_MAX_FAIL=0.25", "LLMBENCH_SLO=ttft=1s", "LLMBENCH_SEED=9",
	})
	assert.NilError(t, err)
	assert.Equal(t, c.URL, "http://127.0.0.1:8000")
	assert.Equal(t, c.Name, "mine")
	assert.Equal(t, c.Dialect.Name(), "openai-completions")
	assert.Equal(t, c.AllUnits, true)
	assert.DeepEqual(t, c.Serve, ServeConfig{
		Concurrency: []int{1, 8}, Rate: []float64{0.5, 32}, LoadSet: true, Burstiness: 0.7, Requests: 100, Output: 20,
		Dataset: "sharegpt:a:b.json", Stream: true, Timeout: time.Minute, IdleTimeout: 5 * time.Second, MaxFail: 0.25,
		SLO: sample.SLO{TTFT: time.Second}, Seed: 9,
	})
	staged, err := ParseConfig([]string{"LLMBENCH_STAGES=10:1m,10..50:30s:exp", "LLMBENCH_BURSTINESS=2"})
	assert.NilError(t, err)
	assert.DeepEqual(t, staged.Serve.Stages, []Stage{{For: time.Minute, Rate: 10}, {For: 30 * time.Second, Rate: 10, Ramp: Exponential, To: 50}})
	assert.Assert(t, staged.Serve.LoadSet)
	leaves, err := ParseConfig([]string{"LLMBENCH_CANCEL=0.25:2s", "LLMBENCH_STREAM=false"})
	assert.NilError(t, err)
	assert.DeepEqual(t, leaves.Serve.Cancel, Cancel{Share: 0.25, Time: 2 * time.Second})
	more, err := ParseConfig([]string{"LLMBENCH_URL=http://x", "LLMBENCH_TOKENIZER=t.json", "LLMBENCH_SEED=18446744073709551615", "LLMBENCH_REQUIRE=docker,llamacpp"})
	assert.NilError(t, err)
	assert.Equal(t, more.Tokenizer, "t.json")
	assert.Equal(t, more.Serve.Seed, uint64(math.MaxUint64))
	assert.DeepEqual(t, more.Require, []string{"docker", "llamacpp"})
	dir := t.TempDir()
	box, err := ParseConfig([]string{"LLMBENCH_BACKEND=vllm", "LLMBENCH_IMAGE=a/b:1", `LLMBENCH_ARGS=--seed 0 --x '{"a": 1}'`, "LLMBENCH_GPUS=0,1",
		"LLMBENCH_MODELS_DIR=" + dir, "LLMBENCH_QUANT=awq", "LLMBENCH_TOKENIZER=t.json"})
	assert.NilError(t, err)
	assert.DeepEqual(t, box.Args, []string{"--seed", "0", "--x", `{"a": 1}`})
	assert.DeepEqual(t, []string{box.Image, box.GPUs, box.ModelsDir, box.Quant}, []string{"a/b:1", "0,1", dir, "awq"})
	for value, want := range map[string]string{"": "", "1": "1", "true": "1", "0": "", "D11": "D11"} {
		full, err := ParseConfig([]string{"LLMBENCH_FULL=" + value, "LLMBENCH_DATA=" + dir})
		if err != nil || full.Full != want || full.Data != dir {
			t.Errorf("LLMBENCH_FULL=%s: full %q, data %q and %v, want %q and %q", value, full.Full, full.Data, err, want, dir)
		}
	}
	mock, err := ParseConfig([]string{"LLMBENCH_MOCK=a.json", "LLMBENCH_MOCK_SPEED=2.5", "LLMBENCH_BACKEND=mock"})
	assert.NilError(t, err)
	assert.Equal(t, mock.Mock, "a.json")
	assert.Equal(t, mock.MockSpeed, 2.5)
	random, err := ParseConfig([]string{"LLMBENCH_INPUT=10", "LLMBENCH_OUTPUT=20"})
	assert.NilError(t, err)
	assert.Equal(t, [2]int{random.Serve.Input, random.Serve.Output}, [2]int{10, 20})
	answers, err := ParseConfig([]string{"LLMBENCH_DATASET=sharegpt:x"})
	assert.NilError(t, err)
	assert.Equal(t, answers.Serve.Output, 0)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, c); strings.Contains(text, "sk-123") {
			t.Errorf("Sprintf(%q) of a config shows the key: %s", format, text)
		}
	}
	assert.Equal(t, c.APIKey.Reveal(), "sk-123")
}

func TestParseConfigErrors(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"LLMBENCH_CONCURENCY=8", "LLMBENCH_CONCURENCY: no such variable"},
		{"LLMBENCH_CONCURRENCY=0", "LLMBENCH_CONCURRENCY=0: want a comma list of different whole numbers, at least 1"},
		{"LLMBENCH_CONCURRENCY=1,x", "LLMBENCH_CONCURRENCY=1,x: want"},
		{"LLMBENCH_CONCURRENCY=8,8", "LLMBENCH_CONCURRENCY=8,8: want"},
		{"LLMBENCH_RATE=-1", "LLMBENCH_RATE=-1: want"},
		{"LLMBENCH_RATE=NaN", "LLMBENCH_RATE=NaN: want"},
		{"LLMBENCH_STAGES=10", "LLMBENCH_STAGES=10: want stages like 10:1m,"},
		{"LLMBENCH_STAGES=10:1m\nLLMBENCH_RATE=1", "LLMBENCH_RATE and LLMBENCH_STAGES: want at most one"},
		{"LLMBENCH_STAGES=10:1m\nLLMBENCH_REQUESTS=7", "LLMBENCH_REQUESTS and LLMBENCH_STAGES: want at most one"},
		{"LLMBENCH_CANCEL=0.1", "LLMBENCH_CANCEL=0.1: want a share and a number of deltas or a time, like 0.1:50"},
		{"LLMBENCH_CANCEL=0.1:9\nLLMBENCH_STREAM=false", "LLMBENCH_CANCEL=0.1:9: with LLMBENCH_STREAM=false there are no deltas"},
		{"LLMBENCH_BURSTINESS=0", "LLMBENCH_BURSTINESS=0: want a number above 0"},
		{"LLMBENCH_REQUESTS=0", "LLMBENCH_REQUESTS=0: want"},
		{"LLMBENCH_INPUT=1.5", "LLMBENCH_INPUT=1.5: want"},
		{"LLMBENCH_OUTPUT=-2", "LLMBENCH_OUTPUT=-2: want"},
		{"LLMBENCH_DATASET= ", "LLMBENCH_DATASET= : want a data set like random or sharegpt:PATH"},
		{"LLMBENCH_STREAM=maybe", "LLMBENCH_STREAM=maybe: want true or false"},
		{"LLMBENCH_WARMUP=-1", "LLMBENCH_WARMUP=-1: want"},
		{"LLMBENCH_TIMEOUT=10", "LLMBENCH_TIMEOUT=10: want a duration like 10m"},
		{"LLMBENCH_IDLE_TIMEOUT=0s", "LLMBENCH_IDLE_TIMEOUT=0s: want"},
		{"LLMBENCH_MAX_FAIL=1.1", "LLMBENCH_MAX_FAIL=1.1: want a number from 0 to 1"},
		{"LLMBENCH_SLO=fast", "LLMBENCH_SLO=fast: want limits like"},
		{"LLMBENCH_SEED=-1", "LLMBENCH_SEED=-1: want"},
		{"LLMBENCH_UNITS=some", "LLMBENCH_UNITS=some: want core or all"},
		{"LLMBENCH_PROGRESS=stderr", "LLMBENCH_PROGRESS=stderr: want none or tty"},
		{"LLMBENCH_DIALECT=grpc", "LLMBENCH_DIALECT=grpc: want one of openai-chat"},
		{"LLMBENCH_MOCK_SPEED=0", "LLMBENCH_MOCK_SPEED=0: want"},
		{"LLMBENCH_FULL= ", "LLMBENCH_FULL= : want 1, 0 or the name of a published experiment"},
		{"LLMBENCH_DATA=config.go", "LLMBENCH_DATA=config.go: want a folder of this machine"},
		{"LLMBENCH_URL=http://127.0.0.1:8000/v1", "without /v1"},
		{"LLMBENCH_URL=host:8000", "LLMBENCH_URL=[not shown]: want a base URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_BACKEND=mock", "LLMBENCH_BACKEND and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_RATE=1\nLLMBENCH_CONCURRENCY=1", "LLMBENCH_CONCURRENCY and LLMBENCH_RATE: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_MOCK=default", "LLMBENCH_MOCK and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_BURSTINESS=2", "LLMBENCH_BURSTINESS: means nothing without LLMBENCH_RATE"},
		{"LLMBENCH_REQUIRE=dokcer", "LLMBENCH_REQUIRE=dokcer: want a comma list of docker, llamacpp"},
		{"LLMBENCH_API_KEY=k", "LLMBENCH_API_KEY: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_TOKENIZER=t.json", "LLMBENCH_TOKENIZER: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_GPUS=all", "LLMBENCH_GPUS: means nothing without LLMBENCH_BACKEND"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_ARGS=--a 'b", "LLMBENCH_ARGS=[not shown]: want arguments, quoted as in a shell"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_MODELS_DIR=/nosuch", "LLMBENCH_MODELS_DIR=/nosuch: want a folder of this machine"},
		{"LLMBENCH_STREAM=false\nLLMBENCH_SLO=ttft=1s", "only e2e can be judged"},
	} {
		_, err := ParseConfig(strings.Split(c.env, "\n"))
		assert.ErrorContains(t, err, c.want)
	}
	// Every variable that is wrong is named, not just the first.
	_, err := ParseConfig([]string{"LLMBENCH_INPUT=x", "LLMBENCH_OUTPUT=y"})
	assert.ErrorContains(t, err, "LLMBENCH_INPUT=x")
	assert.ErrorContains(t, err, "LLMBENCH_OUTPUT=y")
}

func FuzzParseConfig(f *testing.F) {
	f.Add("CONCURRENCY", "1,8")
	f.Add("SLO", "ttft=500ms,tpot=50ms,e2e=10s")
	f.Add("URL", "http://127.0.0.1:8000")
	f.Add("RATE", "1e308")
	f.Fuzz(func(t *testing.T, name, value string) {
		c, err := ParseConfig([]string{"LLMBENCH_" + name + "=" + value})
		if err != nil {
			return
		}
		for _, n := range append(c.Serve.Concurrency, c.Serve.Input) {
			if n < 0 || n == 0 && c.Serve.Dataset == "random" {
				t.Errorf("LLMBENCH_%s=%q gives %+v", name, value, c.Serve)
			}
		}
		if c.Serve.Timeout <= 0 || c.Serve.IdleTimeout <= 0 || !(c.MockSpeed >= 0) || !(c.Serve.MaxFail >= 0 && c.Serve.MaxFail <= 1) {
			t.Errorf("LLMBENCH_%s=%q gives %+v", name, value, c)
		}
	})
}
