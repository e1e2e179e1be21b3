package backends

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func TestParseConfig(t *testing.T) {
	folder := t.TempDir()
	template := filepath.Join(folder, "a.jinja")
	assert.NilError(t, os.WriteFile(template, nil, 0o600))
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
				"LLMBENCH_MODELS_DIR=" + folder, "LLMBENCH_QUANT=awq", "LLMBENCH_API_KEY=k",
				"LLMBENCH_REVISION=v1", "LLMBENCH_CHAT_TEMPLATE=" + template, "LLMBENCH_TRUST_REMOTE_CODE=1", "LLMBENCH_OFFLINE=true"},
			Config{Backends: []string{"vllm", "tgi"}, Name: "url", Dialect: dialect.OpenAIChat{}, Image: "a/b:1",
				Args: []string{"--seed", "0", "--x", `{"a": 1}`}, GPUs: "0,1", ModelsDir: folder, Quant: "awq", Revision: "v1", Template: template, TrustCode: true, Offline: true, APIKey: env.NewSecret("k")},
		},
		{
			[]string{"LLMBENCH_MOCK=speculative,speed=2.5", "LLMBENCH_BACKEND=mock", "LLMBENCH_HTTP=2"},
			Config{Backends: []string{"mock"}, Name: "url", Dialect: dialect.OpenAIChat{}, Mock: Mock{Profile: "speculative", Speed: 2.5}, HTTP: "2"},
		},
	} {
		got, err := ParseConfig(tt.environ)
		assert.NilError(t, err, "%q", tt.environ)
		assert.DeepEqual(t, got, tt.want, cmpopts.EquateComparable(env.Secret{}))
	}
}

// TestConfigHidesKey checks that printing a Config does not show the API key or other secrets.
func TestConfigHidesKey(t *testing.T) {
	c, err := ParseConfig([]string{"LLMBENCH_URL=http://x", "LLMBENCH_API_KEY=sk-123", "LLMBENCH_HEADER=X-Key: sk-1234\n\n  x-key:sk-12345\n", `LLMBENCH_BODY={"api_key":"sk-123456"}`})
	assert.NilError(t, err)
	assert.Equal(t, c.APIKey.Reveal(), "sk-123")
	assert.DeepEqual(t, c.Header, env.Header{"X-Key": {"sk-1234", "sk-12345"}})
	assert.Equal(t, c.Body.Reveal(), `{"api_key":"sk-123456"}`)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(format, c)
		assert.Assert(t, !strings.Contains(text, "sk-123"), "Sprintf(%q): %s", format, text)
	}
}

// bedrock are the variables of a server that speaks a dialect of AWS.
const bedrock = "LLMBENCH_URL=http://x\nLLMBENCH_DIALECT=bedrock-invoke\n"

// TestAWSVariables checks which credentials of AWS are used, and when.
func TestAWSVariables(t *testing.T) {
	const keys = "AWS_ACCESS_KEY_ID=id\nAWS_SECRET_ACCESS_KEY=secret\nAWS_SESSION_TOKEN=token\nAWS_REGION=eu-west-1\n"
	all := &llmbench.AWSKeys{AccessKeyID: "id", SecretAccessKey: env.NewSecret("secret"), SessionToken: env.NewSecret("token"), Region: "eu-west-1"}
	for _, tt := range []struct {
		environ string
		key     string // bearer token
		signs   bool
	}{
		{bedrock, "", false},
		{bedrock + keys, "", true},
		{bedrock + keys + "AWS_BEARER_TOKEN_BEDROCK=bearer", "bearer", false},
		{bedrock + keys + "AWS_BEARER_TOKEN_BEDROCK=bearer\nLLMBENCH_API_KEY=mine", "mine", false},
		{bedrock + keys + "LLMBENCH_HEADER=authorization: Basic abc", "", false},
		{"LLMBENCH_URL=http://x\n" + keys + "AWS_BEARER_TOKEN_BEDROCK=bearer", "", false},
		{"LLMBENCH_URL=http://x\nAWS_ACCESS_KEY_ID=id", "", false},
		{"LLMBENCH_DIALECT=bedrock-invoke\n" + keys + "AWS_BEARER_TOKEN_BEDROCK=bearer", "", false},
	} {
		c, err := ParseConfig(strings.Split(tt.environ, "\n"))
		assert.NilError(t, err)
		assert.Equal(t, c.APIKey.Reveal(), tt.key, tt.environ)
		if !tt.signs {
			assert.Assert(t, c.AWS == nil, tt.environ)
			continue
		}
		assert.Equal(t, *c.AWS, *all)
		named, err := FromConfig(c, nil)
		assert.NilError(t, err)
		assert.Equal(t, named[0].Backend.(URL).target().AWS, c.AWS)
	}
}

func TestParseConfigErrors(t *testing.T) {
	for _, tt := range []struct{ environ, want string }{
		{"LLMBENCH_BACKENDS=mock", "LLMBENCH_BACKENDS: no such variable; the nearest is LLMBENCH_BACKEND"},
		{"LLMBENCH_BACKEND=vllm,vllm", "LLMBENCH_BACKEND=vllm,vllm: want a comma list of different servers"},
		{"LLMBENCH_DIALECT=grpc", "LLMBENCH_DIALECT=grpc: want one of openai-chat"},
		{"LLMBENCH_MOCK=speed=0", "LLMBENCH_MOCK=speed=0: want a profile's name or a JSON file, a speed above 0 like speed=4, or both"},
		{"LLMBENCH_MOCK= ", "LLMBENCH_MOCK= : want"},
		{"LLMBENCH_MOCK=none.json,speed=2", "LLMBENCH_MOCK=none.json,speed=2: profile: open none.json: no such file or directory"},
		{"LLMBENCH_MOCK=none", "LLMBENCH_MOCK=none: profile \"none\": not known: want "},
		{"LLMBENCH_URL=host:8000", `LLMBENCH_URL=[not shown]: URL "host:8000": want a base URL like http://127.0.0.1:8000`},
		{"LLMBENCH_URL=http://u:p@host/x", `LLMBENCH_URL=[not shown]: URL "http://host" with a user or a password before the host, which are not shown`},
		{"LLMBENCH_HEADER=X-Team: a", "LLMBENCH_HEADER: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_HEADER=secret", "LLMBENCH_HEADER=[not shown]: line 1: want Name: value on each line"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_HEADER=A/B: secret", `LLMBENCH_HEADER=[not shown]: header "A/B": want letters`},
		{"LLMBENCH_URL=http://x\nLLMBENCH_API_KEY=k\nLLMBENCH_HEADER=authorization: secret", "LLMBENCH_API_KEY and a line Authorization of LLMBENCH_HEADER: want at most one of them"},
		{"LLMBENCH_BODY=[secret]", `LLMBENCH_BODY=[not shown]: body: not a JSON object without duplicate names: want an object such as {"temperature":0.7}`},
		{"LLMBENCH_BODY={\"stream\":false}", `LLMBENCH_BODY=[not shown]: body: member "stream"; it must stay as it is`},
		{"LLMBENCH_INSECURE=1", "LLMBENCH_INSECURE: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_URL=https://x\nLLMBENCH_INSECURE=please", "LLMBENCH_INSECURE=please: want true or false"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_INSECURE=1", "LLMBENCH_INSECURE: means nothing without an https URL in LLMBENCH_URL"},
		{"LLMBENCH_URL=https://x\nLLMBENCH_CA=/dev/null", "LLMBENCH_CA=/dev/null: want a file with certificates in PEM"},
		{"LLMBENCH_URL=https://x\nLLMBENCH_CLIENT_CERT=c.pem", "LLMBENCH_CLIENT_CERT: means nothing without LLMBENCH_CLIENT_KEY"},
		{"LLMBENCH_URL=https://x\nLLMBENCH_CLIENT_CERT=/nosuch/c.pem\nLLMBENCH_CLIENT_KEY=/nosuch/k.pem", "LLMBENCH_CLIENT_CERT and LLMBENCH_CLIENT_KEY: open /nosuch/c.pem: no such file or directory: want a certificate and its key in PEM"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_BACKEND=mock", "LLMBENCH_BACKEND and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_MOCK=default", "LLMBENCH_MOCK and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_MOCK_SPEED=2", "LLMBENCH_MOCK and LLMBENCH_URL: want at most one"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_SHED_STATUS=429,200", "LLMBENCH_SHED_STATUS=429,200: shed status 200: want statuses from 400 to 599"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_SHED_STATUS=5xx", "LLMBENCH_SHED_STATUS=5xx: want a comma list of HTTP statuses from 400 to 599, like 429,503,529"},
		{"LLMBENCH_SHED_STATUS=503", "LLMBENCH_SHED_STATUS: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_RECORD_HEADER=x-a,set-cookie", `LLMBENCH_RECORD_HEADER=x-a,set-cookie: record header "set-cookie": want a field that holds no credential`},
		{"LLMBENCH_URL=http://x\nLLMBENCH_RECORD_HEADER=a b", `LLMBENCH_RECORD_HEADER=a b: record header "a b": want the name of a header field, of letters, digits and hyphens`},
		{"LLMBENCH_HTTP=3", "LLMBENCH_HTTP=3: want 1.1 or 2"},
		{"LLMBENCH_HTTP=2\nLLMBENCH_BACKEND=mock,vllm", "LLMBENCH_HTTP=2: servers in containers speak HTTP/1.1: want LLMBENCH_URL, or process and mock alone in LLMBENCH_BACKEND"},
		{"LLMBENCH_HTTP=2\nLLMBENCH_URL=http://x\nLLMBENCH_PROXY=http://proxy:3128", "LLMBENCH_HTTP=2: HTTP/2 without TLS through a proxy that forwards requests of HTTP/1.1: want an https URL"},
		{"LLMBENCH_PROXY=http://proxy:3128", "LLMBENCH_PROXY: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_PROXY=http://user:secret@", "LLMBENCH_PROXY=[not shown]: proxy: no host: want a URL like http://proxy:3128, of scheme http, https, socks5 or socks5h"},
		{bedrock + "AWS_ACCESS_KEY_ID=id", "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not: want both to sign requests, or LLMBENCH_API_KEY"},
		{bedrock + "AWS_SECRET_ACCESS_KEY=secret", "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not: want both to sign requests, or LLMBENCH_API_KEY"},
		{bedrock + "AWS_ACCESS_KEY_ID=id\nAWS_SECRET_ACCESS_KEY=secret", "AWS_REGION is not set: want the region of LLMBENCH_URL, such as us-east-1, to sign requests with AWS_ACCESS_KEY_ID"},
		{"LLMBENCH_API_KEY=k", "LLMBENCH_API_KEY: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_DIRECT=http://x", "LLMBENCH_DIRECT: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_URL=http://x\nLLMBENCH_DIRECT=server", `LLMBENCH_DIRECT=[not shown]: URL "": want a base URL`},
		{"LLMBENCH_NAME=mine", "LLMBENCH_NAME: means nothing without LLMBENCH_URL"},
		{"LLMBENCH_GPUS=all", "LLMBENCH_GPUS: means nothing without LLMBENCH_BACKEND"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_ARGS=--a 'b", "LLMBENCH_ARGS=[not shown]: want arguments, quoted as in a shell"},
		{"LLMBENCH_BACKEND=vllm\nLLMBENCH_MODELS_DIR=/nosuch", "LLMBENCH_MODELS_DIR=/nosuch: want a folder of this machine"},
	} {
		_, err := ParseConfig(strings.Split(tt.environ, "\n"))
		assert.ErrorContains(t, err, tt.want)
		assert.Assert(t, !strings.Contains(err.Error(), "secret"), "%v", err)
	}
}

// TestMissingProgram checks that a missing program is told before another server is measured.
func TestMissingProgram(t *testing.T) {
	c := Config{Backends: []string{"mock", processName}, Command: []Program{{Command: []string{"no-such-program-anywhere"}}}}
	_, err := FromConfig(c, nil)
	assert.ErrorContains(t, err, `LLMBENCH_COMMAND: process: exec: "no-such-program-anywhere": executable file not found in `)
}

// TestList checks what is printed for LLMBENCH_BACKEND=list and for an unknown name.
func TestList(t *testing.T) {
	_, err := FromConfig(Config{Backends: []string{"list"}}, nil)
	assert.ErrorContains(t, err, "LLMBENCH_BACKEND=list: nothing is measured; the servers are:\n"+List())
	for _, want := range []string{
		"ollama\n    image: ollama/ollama:0.35.1, ollama/ollama:0.35.1-rocm with AMD GPUs\n    arguments (LLMBENCH_ARGS): none; it takes its settings from variables\n    settings (go doc ./backends Ollama): Context, Parallel, ",
		"textgen\n    image: none: set LLMBENCH_IMAGE\n    arguments (LLMBENCH_ARGS): options of the server\n",
		"mindie\n    image: swr.",
		"vllm\n    image: vllm/vllm-openai-cpu:",
		"\n    units of its own figures: srv-prefix-hit-%, srv-preempt/op, srv-kv-%, srv-queue-ns, srv-accept-len, srv-accept-%\n    settings (go doc ./backends VLLM): ",
		"mock-container\n    image: llmbench/mockserver:built, from source\n",
	} {
		assert.Assert(t, strings.Contains(List(), want), "want %q in:\n%s", want, List())
	}
	for _, name := range Names() {
		assert.Assert(t, strings.Contains("\n"+List(), "\n"+name+"\n"), "no %s in:\n%s", name, List())
	}
	for name, nearest := range map[string]string{"vlm": "vllm", "llama.cpp": "llamacpp", "Ollama": "ollama", "text-gen": "textgen"} {
		_, err := FromConfig(Config{Backends: []string{name}}, nil)
		assert.ErrorContains(t, err, "is not a backend; the nearest is "+nearest+": want a comma list of ")
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("URL", "http://127.0.0.1:8000")
	f.Add("BACKEND", "vllm,tgi")
	f.Add("MOCK", "speed=1e308")
	f.Fuzz(func(t *testing.T, name, value string) {
		c, err := ParseConfig([]string{"LLMBENCH_" + name + "=" + value})
		if err != nil {
			return
		}
		assert.Assert(t, c.Mock.Speed >= 0, "LLMBENCH_%s=%q: %+v", name, value, c)
		assert.Assert(t, len(c.Backends) > 0 && c.Name != "" && c.Dialect != nil, "LLMBENCH_%s=%q: %+v", name, value, c)
	})
}
