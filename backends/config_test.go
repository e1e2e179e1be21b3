package backends

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func TestParseConfig(t *testing.T) {
	folder := t.TempDir()
	for _, tt := range []struct {
		environ []string
		want    Config
	}{
		{[]string{"PATH=/bin", "LLMBENCH_MODEL="}, Config{Backends: []string{"mock"}, Name: "url", Dialect: dialect.OpenAIChat{}}},
		{
			[]string{"LLMBENCH_URL=http://127.0.0.1:8000", "LLMBENCH_NAME=mine", "LLMBENCH_DIALECT=openai-completions", "LLMBENCH_MODEL=a/b",
				"LLMBENCH_API_KEY=sk-123", "LLMBENCH_OUT=out", "LLMBENCH_UNITS=all"},
			Config{Backends: []string{"mock"}, URL: "http://127.0.0.1:8000", Name: "mine", Dialect: dialect.OpenAICompletions{}, Model: "a/b",
				APIKey: env.NewSecret("sk-123"), LogDir: "out"},
		},
		{
			[]string{"LLMBENCH_BACKEND=vllm, tgi", "LLMBENCH_IMAGE=a/b:1", `LLMBENCH_ARGS=--seed 0 --x '{"a": 1}'`, "LLMBENCH_GPUS=0,1",
				"LLMBENCH_MODELS_DIR=" + folder, "LLMBENCH_QUANT=awq", "LLMBENCH_API_KEY=k"},
			Config{Backends: []string{"vllm", "tgi"}, Name: "url", Dialect: dialect.OpenAIChat{}, Image: "a/b:1",
				Args: []string{"--seed", "0", "--x", `{"a": 1}`}, GPUs: "0,1", ModelsDir: folder, Quant: "awq", APIKey: env.NewSecret("k")},
		},
		{
			[]string{"LLMBENCH_MOCK=a.json", "LLMBENCH_MOCK_SPEED=2.5", "LLMBENCH_BACKEND=mock"},
			Config{Backends: []string{"mock"}, Name: "url", Dialect: dialect.OpenAIChat{}, Mock: "a.json", MockSpeed: 2.5},
		},
	} {
		got, err := ParseConfig(tt.environ)
		assert.NilError(t, err, "%q", tt.environ)
		assert.DeepEqual(t, got, tt.want, cmpopts.EquateComparable(env.Secret{}))
	}
}

// TestConfigHidesKey checks that printing a Config does not show the API key.
func TestConfigHidesKey(t *testing.T) {
	c, err := ParseConfig([]string{"LLMBENCH_URL=http://x", "LLMBENCH_API_KEY=sk-123"})
	assert.NilError(t, err)
	assert.Equal(t, c.APIKey.Reveal(), "sk-123")
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(format, c)
		assert.Assert(t, !strings.Contains(text, "sk-123"), "Sprintf(%q): %s", format, text)
	}
}

func TestParseConfigErrors(t *testing.T) {
	for _, tt := range []struct{ environ, want string }{
		{"LLMBENCH_BACKENDS=mock", "LLMBENCH_BACKENDS: no such variable; the nearest is LLMBENCH_BACKEND"},
		{"LLMBENCH_BACKEND=vllm,vllm", "LLMBENCH_BACKEND=vllm,vllm: want a comma list of different servers"},
		{"LLMBENCH_DIALECT=grpc", "LLMBENCH_DIALECT=grpc: want one of openai-chat"},
		{"LLMBENCH_MOCK_SPEED=0", "LLMBENCH_MOCK_SPEED=0: want a number above 0"},
		{"LLMBENCH_URL=http://127.0.0.1:8000/v1", "LLMBENCH_URL=[not shown]: want a base URL like http://127.0.0.1:8000, without /v1"},
		{"LLMBENCH_URL=host:8000", "LLMBENCH_URL=[not shown]: want a base URL"},
		{"LLMBENCH_URL=http://u:p@host", "LLMBENCH_URL=[not shown]: want a base URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_BACKEND=mock", "LLMBENCH_BACKEND and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_MOCK=default", "LLMBENCH_MOCK and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_MOCK_SPEED=2", "LLMBENCH_MOCK_SPEED and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_API_KEY=k", "LLMBENCH_API_KEY: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_NAME=mine", "LLMBENCH_NAME: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_GPUS=all", "LLMBENCH_GPUS: means nothing without LLMBENCH_BACKEND"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_ARGS=--a 'b", "LLMBENCH_ARGS=[not shown]: want arguments, quoted as in a shell"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_MODELS_DIR=/nosuch", "LLMBENCH_MODELS_DIR=/nosuch: want a folder of this machine"},
	} {
		_, err := ParseConfig(strings.Split(tt.environ, "\n"))
		assert.ErrorContains(t, err, tt.want)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("URL", "http://127.0.0.1:8000")
	f.Add("BACKEND", "vllm,tgi")
	f.Add("MOCK_SPEED", "1e308")
	f.Fuzz(func(t *testing.T, name, value string) {
		c, err := ParseConfig([]string{"LLMBENCH_" + name + "=" + value})
		if err != nil {
			return
		}
		assert.Assert(t, c.MockSpeed >= 0, "LLMBENCH_%s=%q: %+v", name, value, c)
		assert.Assert(t, len(c.Backends) > 0 && c.Name != "" && c.Dialect != nil, "LLMBENCH_%s=%q: %+v", name, value, c)
	})
}
