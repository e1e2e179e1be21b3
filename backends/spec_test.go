package backends

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAPIKey checks that requests carry the key that the server asks for.
func TestAPIKey(t *testing.T) {
	for _, c := range []struct {
		container Container
		want      string
	}{
		{Container{}, ""},
		{Container{Args: []string{"--seed", "0", "--api-key", "k", "k2"}}, "k"},
		{Container{Args: []string{"--api-key=k"}}, "k"},
		{Container{Env: map[string]string{"VLLM_API_KEY": "k"}}, "k"},
	} {
		c.container.Model = "m"
		spec, err := VLLM{Container: c.container}.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.APIKey, c.want)
		for key, v := range spec.Config {
			assert.Assert(t, key == "backend" || !strings.Contains(" "+v+" ", " k "), "%s: %s", key, v)
		}
	}
}

// TestAPIKeyFromConfig checks that LLMBENCH_API_KEY is also the key of a server in
// a container, and that requests carry this key if Args have several.
func TestAPIKeyFromConfig(t *testing.T) {
	cfg, err := ParseConfig([]string{"LLMBENCH_BACKEND=vllm", "LLMBENCH_MODEL=m", "LLMBENCH_API_KEY=k2", "LLMBENCH_ARGS=--api-key k k2"})
	assert.NilError(t, err)
	var server Server
	_, err = FromConfig(cfg, func(s Server) Backend { server = s; return nil })
	assert.NilError(t, err)
	spec, err := server.Spec()
	assert.NilError(t, err)
	assert.Equal(t, spec.APIKey, "k2")
}

// TestKwargsHideSecrets checks that the request which launches a model of
// Xinference is shown without secrets.
func TestKwargsHideSecrets(t *testing.T) {
	spec, err := Xinference{Container: Container{Model: "m"}, Engine: "vLLM", Kwargs: map[string]any{"api_key": "planted", "n": 1}}.Spec()
	assert.NilError(t, err)
	launch := spec.Setup[0]
	assert.Assert(t, strings.Contains(launch.Body, `"api_key":"planted"`), launch.Body)
	assert.Assert(t, !strings.Contains(launch.String()+spec.Config["launch"], "planted"))
}

// TestSettingsAreComparable checks that the configuration lines show each changed
// setting, for servers that take options, variables and files.
func TestSettingsAreComparable(t *testing.T) {
	m := Container{Model: "m", ModelsDir: "/data", GPUs: "ascend:0"}
	for _, c := range [][2]Server{
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m"}, MaxNumSeqs: 256}},
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m", Args: []string{"--seed", "1"}}}},
		{Ollama{Container: Container{Model: "m"}}, Ollama{Container: Container{Model: "m"}, Parallel: 2}},
		{LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}}, LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}, FlashAttn: true}},
		{TensorRTLLM{Container: Container{Model: "m"}}, TensorRTLLM{Container: Container{Model: "m"}, BlockReuse: Off}},
		{MindIE{Container: m}, MindIE{Container: m, MaxIterTimes: 400}},
	} {
		a, err := c[0].Spec()
		assert.NilError(t, err)
		b, err := c[1].Spec()
		assert.NilError(t, err)
		keys := 0
		for key, v := range b.Config {
			assert.Assert(t, !strings.Contains(v, "\n"), "%s: %q", key, v)
			if a.Config[key] != v {
				keys++
			}
		}
		assert.Equal(t, keys, 1, "%+v and %+v differ in %d configuration lines", c[0], c[1], keys)
	}
}
