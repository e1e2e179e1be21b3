package llamatest

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

// writeModel writes the model that o describes into dir, unless it is already there, and returns its path.
// The file becomes visible only when it is complete, so processes can share dir.
func writeModel(dir string, o tinygguf.Options) (path string, err error) {
	o = o.WithDefaults()
	key := sha256.Sum256(fmt.Appendf(nil, "%d %+v", tinygguf.Revision, o))
	path = filepath.Join(dir, fmt.Sprintf("tiny-%x.gguf", key[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.CreateTemp(dir, ".part-*")
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	err = errors.Join(tinygguf.Write(w, o), w.Flush(), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return path, nil
}
