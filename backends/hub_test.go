package backends

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
)

// minimal returns the server with a name, with as few settings as the server allows.
func minimal(name string, c Container) Server {
	switch name {
	case "textgen", "mindie":
		c.ModelsDir = "/data"
	case "llamacpp-python":
		c.Image = "local/llama-cpp-python:0.3.35"
	}
	if name == "vllm-disagg" {
		c.GPUs = "0,1"
	}
	if name == "mindie" {
		c.GPUs = "0"
	}
	if name == "textgen" {
		c.Image = "local/textgen:4.7.3"
	}
	return servers[name](c)
}

// TestNoSettingIsIgnored checks settings that all servers share. Each server must either follow
// such a setting or refuse it.
func TestNoSettingIsIgnored(t *testing.T) {
	for name := range servers {
		plain, err := minimal(name, Container{Model: "m"}).Spec()
		assert.NilError(t, err)
		for field, c := range map[string]Container{
			"Revision":        {Model: "m", Revision: "v1"},
			"ChatTemplate":    {Model: "m", ChatTemplate: "a.jinja"},
			"TrustRemoteCode": {Model: "m", TrustRemoteCode: true},
			"Offline":         {Model: "m", Offline: true},
		} {
			spec, err := minimal(name, c).Spec()
			if err != nil {
				assert.ErrorContains(t, err, field, name)
				continue
			}
			same := slices.Equal(spec.Cmd, plain.Cmd) && reflect.DeepEqual(spec.Env, plain.Env) && reflect.DeepEqual(spec.Files, plain.Files) && reflect.DeepEqual(spec.Setup, plain.Setup) && reflect.DeepEqual(spec.Beside, plain.Beside)
			assert.Assert(t, !same, "%s ignores %s", name, field)
		}
	}
}

func TestRevision(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	for _, c := range []struct{ revision, commit, file string }{
		{"", "", "/root/.cache/huggingface/hub/models--a--b/refs/main"},
		{"v1.0", "", "/root/.cache/huggingface/hub/models--a--b/refs/v1.0"},
		{commit, commit, ""},
	} {
		spec, err := VLLM{Container: Container{Model: "a/b", Revision: c.revision}}.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.Config["model-revision"], c.revision)
		assert.Equal(t, spec.Config["model-commit"], c.commit)
		assert.Equal(t, spec.CommitFile, c.file)
		assert.Equal(t, slices.Contains(spec.Cmd, "--revision"), c.revision != "")
	}
	for _, c := range []Container{{Model: "m", Revision: "v1", ModelsDir: "/data"}, {Model: "m", Revision: "../x"}, {Model: "m", Revision: "-x"}, {Model: "m", Revision: "a b"}} {
		_, err := VLLM{Container: c}.Spec()
		assert.ErrorContains(t, err, "Revision ")
	}
	spec, err := VLLM{Container: Container{Model: "m", ModelsDir: "/data"}}.Spec()
	assert.NilError(t, err)
	assert.Equal(t, spec.CommitFile, "") // nothing was downloaded
}

// TestImageForDevices checks that a server gets an image that can use its devices.
func TestImageForDevices(t *testing.T) {
	for _, c := range []struct {
		server Server
		want   string // an image, or a part of the error
	}{
		{VLLM{Container: Container{Model: "m", GPUs: "0"}}, "vllm/vllm-openai:v0.31.0"},
		{VLLM{Container: Container{Model: "m", GPUs: "amd:0"}}, "vllm/vllm-openai-rocm:v0.31.0"},
		{VLLM{Container: Container{Model: "m"}}, "vllm/vllm-openai-cpu:v0.31.0"},
		{SGLang{Container: Container{Model: "m", GPUs: "0"}}, "lmsysorg/sglang:v0.5.21"},
		{SGLang{Container: Container{Model: "m", GPUs: "amd:0"}}, "lmsysorg/sglang:v0.5.21-rocm10-mi30x"},
		{SGLang{Container: Container{Model: "m"}}, "lmsysorg/sglang:v0.5.21-xeon"},
		{TGI{Container: Container{Model: "m", GPUs: "0"}}, "ghcr.io/huggingface/text-generation-inference:3.3.7"},
		{TGI{Container: Container{Model: "m", GPUs: "amd:0"}}, "ghcr.io/huggingface/text-generation-inference:3.3.5-rocm"},
		{LMDeploy{Container: Container{Model: "m", GPUs: "amd:0"}}, "lmdeploy: GPUs \"amd:0\": this server has no default image"},
		{TensorRTLLM{Container: Container{Model: "m", GPUs: "amd:0"}}, "tensorrtllm: GPUs \"amd:0\": this server has no default image"},
		{VLLM{Container: Container{Model: "m", GPUs: "ascend:0"}}, "GPUs \"ascend:0\": this server has no default image for devices of vendor ascend"},
		{VLLM{Container: Container{Model: "m", GPUs: "ascend:0", Image: "a/vllm-ascend:1"}}, "a/vllm-ascend:1"},
	} {
		spec, err := c.server.Spec()
		if err != nil {
			assert.ErrorContains(t, err, c.want)
			continue
		}
		assert.Equal(t, spec.Image, c.want)
	}
}

// TestChoices checks that a field accepts exactly the values that the server accepts.
func TestChoices(t *testing.T) {
	all, err := facts.Load("testdata/facts")
	assert.NilError(t, err)
	for _, c := range []struct {
		server, option string
		with           func(value string) Server
		except         []string // values that the field deliberately leaves out
	}{
		{"vllm", "--quantization", func(v string) Server { return VLLM{Container: Container{Model: "m", Quantization: v}} },
			[]string{"fbgemm_fp8", "fp_quant", "deepseek_v4_fp8"}}, // these are deprecated, or for one model only
		{"sglang", "--quantization", func(v string) Server { return SGLang{Container: Container{Model: "m", Quantization: v}} },
			[]string{"modelslim", "mxfp_w4a8", "mlx_q4", "mlx_q8"}}, // these are for NPUs and for Apple's GPUs
		{"sglang", "--kv-cache-dtype", func(v string) Server { return SGLang{Container: Container{Model: "m"}, KVCacheDType: v} }, nil},
		{"sglang", "--schedule-policy", func(v string) Server { return SGLang{Container: Container{Model: "m"}, SchedulePolicy: v} }, nil},
		{"tgi", "--quantize", func(v string) Server { return TGI{Container: Container{Model: "m", Quantization: v}} }, nil},
		{"tgi", "--kv-cache-dtype", func(v string) Server { return TGI{Container: Container{Model: "m"}, KVCacheDType: v} }, nil},
		{"tgi", "--dtype", func(v string) Server { return TGI{Container: Container{Model: "m"}, DType: v} }, nil},
		{"lmdeploy", "--model-format", func(v string) Server { return LMDeploy{Container: Container{Model: "m", Quantization: v}} }, nil},
		{"lmdeploy", "--dtype", func(v string) Server { return LMDeploy{Container: Container{Model: "m"}, DType: v} }, nil},
		{"lmdeploy", "--backend", func(v string) Server { return LMDeploy{Container: Container{Model: "m"}, Engine: v} }, nil},
	} {
		f, _, found := facts.For(all, c.server, "")
		assert.Assert(t, found)
		i := slices.IndexFunc(f.Options, func(o facts.Option) bool { return slices.Contains(o.Names, c.option) })
		candidates := slices.Concat(f.Options[i].Values, []string{"bitsandbytes-x", "nonsense"})
		if c.server == "vllm" {
			candidates = append(candidates, "gguf", "bitsandbytes")
		}
		for _, value := range candidates {
			_, err := c.with(value).Spec()
			want := slices.Contains(f.Options[i].Values, value) && !slices.Contains(c.except, value)
			assert.Equal(t, err == nil, want, "%s %s %s: %v", c.server, c.option, value, err)
		}
	}
}
