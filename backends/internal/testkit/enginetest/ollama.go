package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
)

// ollamaModule builds Ollama from its Go module; see package ollamatest.
type ollamaModule struct{}

func (ollamaModule) key(Engine) (string, error) { return sum(ollamatest.Version), nil }

func (ollamaModule) build(ctx context.Context, _ Engine, dir string) error {
	_, err := ollamatest.Build(ctx)
	if err != nil {
		return err
	}
	server := filepath.Join(dir, "ollamaserver")
	return errors.Join(os.Mkdir(dir, 0o755), run(ctx, nil, "go", "build", "-o", server, "github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest/cmd/ollamaserver"))
}
