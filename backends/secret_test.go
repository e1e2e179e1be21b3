package backends

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

func TestShownArgs(t *testing.T) {
	for _, c := range []struct{ args, want, secrets string }{
		{"--api-key sk-1 --seed 0", "--api-key [secret] --seed 0", "sk-1"},
		{"--api-key=sk-1", "--api-key=[secret]", "sk-1"},
		{"--api-keys sk-1 sk-2 --tp 2", "--api-keys [secret] [secret] --tp 2", "sk-1 sk-2"},
		{"--api-key -sk-1 -c 1", "--api-key [secret] -c 1", "-sk-1"},
		{"-hft hf_abcdefgh -c 1", "-hft [secret] -c 1", "hf_abcdefgh"},
		{"--api-key 12345678", "--api-key [secret]", "12345678"},
		{"--api-key 1234", "--api-key [secret]", "1234"},
		{"--db_password 1h", "--db_password [secret]", "1h"},
		{"--hf-token 1234567890", "--hf-token [secret]", "1234567890"},
		{"--seconds-per-token=0.5 -per-token 0 --per-token 20ms", "--seconds-per-token=0.5 -per-token 0 --per-token 20ms", ""},
		{"--token --verbose", "--token --verbose", ""},
		{"--max-tokens 8 --tokenizer some/model", "--max-tokens 8 --tokenizer some/model", ""},
	} {
		got, secrets := shownArgs(strings.Fields(c.args))
		assert.Equal(t, strings.Join(got, " "), c.want)
		assert.Equal(t, strings.Join(secrets, " "), c.secrets, "%s", c.args)
	}
}

// TestHidden checks that what is hidden takes nothing else with it.
func TestHidden(t *testing.T) {
	s, err := VLLM{Container: Container{Model: "m", Env: map[string]string{
		"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_TOKEN": "hf_abcdefgh", "OTHER_TOKEN": "hf_abcdefghijkl", "MY_PASSWORD": "sha",
	}}}.spec()
	assert.NilError(t, err)
	r := &running{spec: s, digest: "sha256:1f1e", log: &serverlog.Log{}}
	assert.NilError(t, r.openLog())
	c := r.describe()
	assert.Equal(t, c["image-digest"], "sha256:1f1e")
	assert.Equal(t, c["env-hf_hub_disable_implicit_token"], "1")
	assert.Equal(t, c["env-my_password"], "[secret]")
	assert.Equal(t, r.log.Clean("hf_abcdefghijkl hf_abcdefgh"), "[secret] [secret]", "a secret that begins with another")
}

// TestAPIKey checks that requests carry the key that the server asks for.
func TestAPIKey(t *testing.T) {
	for _, c := range []struct {
		Container
		want string
	}{
		{Container{}, ""},
		{Container{Args: []string{"--seed", "0", "--api-key", "k", "k2"}}, "k"},
		{Container{Args: []string{"--api-key=k"}}, "k"},
		{Container{Env: map[string]string{"VLLM_API_KEY": "k"}}, "k"},
	} {
		c.Model = "m"
		s, err := VLLM{Container: c.Container}.spec()
		assert.NilError(t, err)
		assert.Equal(t, s.key, c.want)
		for key, v := range s.config {
			assert.Assert(t, key == "backend" || !strings.Contains(" "+v+" ", " k "), "%s: %s", key, v)
		}
	}
}

// TestAPIKeyFromConfig checks that LLMBENCH_API_KEY is for a container too, and is
// the one that is sent if Args have several.
func TestAPIKeyFromConfig(t *testing.T) {
	cfg, err := ParseConfig([]string{"LLMBENCH_BACKEND=vllm", "LLMBENCH_MODEL=m", "LLMBENCH_API_KEY=k2", "LLMBENCH_ARGS=--api-key k k2"})
	assert.NilError(t, err)
	all, err := FromConfig(cfg)
	assert.NilError(t, err)
	s, err := all[0].Backend.(contained).spec()
	assert.NilError(t, err)
	assert.Equal(t, s.key, "k2")
}

// TestKwargsHideSecrets checks what is shown of the one body that may hold any.
func TestKwargsHideSecrets(t *testing.T) {
	s, err := Xinference{Container: Container{Model: "m"}, Engine: "vLLM", Kwargs: map[string]any{"api_key": "planted", "n": 1}}.spec()
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(s.setup[0].body, `"api_key":"planted"`), s.setup[0].body)
	assert.Assert(t, !strings.Contains(s.setup[0].String()+s.config["launch"], "planted"))
}

// TestSettingsAreComparable checks that what a field changes is in the config
// lines, of servers that take options, variables and files.
func TestSettingsAreComparable(t *testing.T) {
	m := Container{Model: "m", ModelsDir: "/data", GPUs: "ascend:0"}
	for _, c := range [][2]contained{
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m"}, MaxNumSeqs: 256}},
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m", Args: []string{"--seed", "1"}}}},
		{Ollama{Container: Container{Model: "m"}}, Ollama{Container: Container{Model: "m"}, Parallel: 2}},
		{LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}}, LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}, FlashAttn: true}},
		{TensorRTLLM{Container: Container{Model: "m"}}, TensorRTLLM{Container: Container{Model: "m"}, BlockReuse: Off}},
		{MindIE{Container: m}, MindIE{Container: m, MaxIterTimes: 400}},
	} {
		a, err := c[0].spec()
		assert.NilError(t, err)
		b, err := c[1].spec()
		assert.NilError(t, err)
		keys := 0
		for key, v := range b.config {
			assert.Assert(t, !strings.Contains(v, "\n"), "%s: %q", key, v)
			if a.config[key] != v {
				keys++
			}
		}
		assert.Equal(t, keys, 1, "%+v and %+v differ in %d config lines", c[0], c[1], keys)
	}
}
