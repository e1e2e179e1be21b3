package enginetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// cacheName is the name of the folder in the cache that holds all engines and the model.
const cacheName = "engines"

// model describes the model. Some engines compute attention on CPUs only for some sizes of a head, of which 64 is
// one. A request has at most 4096 tokens.
var model = tinygguf.Options{Dim: 256, Layers: 4, Heads: 4, KVHeads: 2, FF: 768, Vocab: 4096, Context: 4096, Name: ModelName}

// cached returns the folder of a kind of files that depend on the model alone. write writes the files.
func cached(ctx context.Context, kind string, write func(dir string) error) (dir string, err error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%d %+v", tinygguf.Revision, model.WithDefaults()))
	return buildcache.Get(ctx, cacheName, fmt.Sprintf("%s-%x", kind, key[:8]), time.Minute, func(_ context.Context, dir string) error { return write(dir) })
}

// loraFolder returns the folder of an adapter of the model.
func loraFolder(ctx context.Context) (dir string, err error) {
	return cached(ctx, "lora", func(dir string) error { return tinygguf.WriteLoRA(dir, model) })
}

// modelFolder returns the folder of the model: in the form in which most engines load it, and as the file tiny.gguf.
func modelFolder(ctx context.Context) (dir string, err error) {
	return cached(ctx, "model", func(dir string) error {
		if err := tinygguf.WriteFolder(dir, model); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, ModelName+".gguf"))
		if err != nil {
			return err
		}
		return errors.Join(tinygguf.Write(f, model), f.Close())
	})
}
