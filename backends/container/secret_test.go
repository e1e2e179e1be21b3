package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// TestNoSecretIsShown gives a server a token and a key, makes the server print
// them, and searches for them in logs, errors and configuration lines.
func TestNoSecretIsShown(t *testing.T) {
	const token = "hf_PlantedTokenThatNobodyMaySee"
	t.Setenv("HF_TOKEN", token)
	dir := t.TempDir()
	var shown strings.Builder
	logf := func(format string, args ...any) { fmt.Fprintf(&shown, format+"\n", args...) }

	// OpenLLM gets HF_TOKEN. The simulated server does not know OpenLLM's command, and repeats it
	// in its error. The key is only known from Args. The server prints the key in a longer text, as
	// vLLM does with all its settings.
	image := mock(t).Image
	const key = "sk-PlantedKeyThatNobodyMaySee"
	spec := specOf(t, backends.OpenLLM{Container: backends.Container{Image: image, Model: "m", LogDir: dir, Args: []string{"--api-key", key}}})
	spec.Cmd = []string{"-profile=" + token + "{'api_key': '" + key + "'}"}
	_, err := start(t.Context(), spec, logf)
	assert.ErrorContains(t, err, `profile "[redacted]{'api_key': '[redacted]'}": not known`)
	fmt.Fprintln(&shown, err)

	m := backends.MockContainer{Container: backends.Container{Image: image, Env: map[string]string{"MY_API_KEY": token, "NOTE": token}, LogDir: dir}}
	i, err := start(t.Context(), specOf(t, m), logf)
	assert.NilError(t, err)
	assert.NilError(t, i.stop())
	assert.Equal(t, i.target.Config["env-note"], "[redacted]")
	fmt.Fprintln(&shown, i.target)

	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(logs), 2)
	for _, l := range logs {
		content, err := os.ReadFile(l)
		assert.NilError(t, err)
		assert.Assert(t, len(content) > 0)
		shown.Write(content)
	}
	for _, secret := range []string{token, key} {
		assert.Assert(t, !strings.Contains(shown.String(), secret), "%s is shown:\n%s", secret, &shown)
	}
}

// TestHiddenSecrets checks that values that only look like secrets stay visible.
func TestHiddenSecrets(t *testing.T) {
	spec := specOf(t, backends.VLLM{Container: backends.Container{Model: "m", Env: map[string]string{
		"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HF_TOKEN": "hf_abcdefgh", "OTHER_TOKEN": "hf_abcdefghijkl", "MY_PASSWORD": "sha",
	}}})
	i := newInstance(spec, t.Logf)
	i.digest = "sha256:1f1e"
	assert.NilError(t, i.openLog())
	c := i.describe()
	assert.Equal(t, c["image-digest"], "sha256:1f1e")
	assert.Equal(t, c["env-hf_hub_disable_implicit_token"], "1")
	assert.Equal(t, c["env-my_password"], "[secret]")
	assert.Equal(t, redact.Known().Remove("hf_abcdefghijkl hf_abcdefgh"), "[redacted] [redacted]", "one secret is a prefix of the other")
}
