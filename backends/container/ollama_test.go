package container

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
)

// ollamaImage returns an image with the real Ollama of this machine, and the libraries that it is
// linked with.
func ollamaImage(t *testing.T, e *engine.Engine) string {
	t.Helper()
	hash := sha256.New()
	var files []engine.File
	paths := ollamatest.Files(t)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		content, err := os.ReadFile(paths[name])
		assert.NilError(t, err)
		hash.Write(content)
		files = append(files, engine.File{Name: strings.TrimPrefix(name, "/"), Content: content})
	}
	files = append(files, engine.File{Name: "tmp/empty"}) // so that the folder exists
	image := fmt.Sprintf("llmbench/ollama:%.16x", hash.Sum(nil))
	if !e.Has(t.Context(), image) {
		assert.NilError(t, e.Import(t.Context(), image, "/bin/ollama", files))
	}
	return image
}

// TestOllamaContainer starts a real Ollama in a container. The server must make its model from a
// file, load the model, and answer a load.
func TestOllamaContainer(t *testing.T) {
	t.Parallel()
	e := needDocker(t)
	image := ollamaImage(t, e)
	model := llamatest.Model(t, tinygguf.Options{})
	server := backends.Ollama{
		Container: backends.Container{Image: image, Model: filepath.Base(model), ModelsDir: filepath.Dir(model), Env: map[string]string{"OLLAMA_NO_CLOUD": "1"}},
		Context:   2048, Parallel: 2,
	}
	spec := specOf(t, server)
	spec.Entrypoint = []string{"/bin/ollama", "serve"} // the command in Ollama's own image
	i, err := start(t.Context(), spec, t.Logf)
	assert.NilError(t, err)
	assert.Equal(t, i.target.Config["server-version"], ollamatest.Version)
	assert.Equal(t, i.target.Config["context"], "2048")
	measureStandIn(t, i)
	assert.NilError(t, i.stop())
	nothingLeft(t)
}
