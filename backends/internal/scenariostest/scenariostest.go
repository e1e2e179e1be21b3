// Package scenariostest builds the test program of package scenarios for tests that measure a
// server with it in processes of their own.
package scenariostest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/buildcache"
)

// buildTimeout bounds the building of the program, and the wait for another process that builds it.
const buildTimeout = 10 * time.Minute

// Program returns the path of the test program of package scenarios, as the sources are now. The
// program is removed when tb ends. A copy stays in the cache folder: the go command links the
// program again only if that copy is not of the same sources.
func Program(tb testing.TB) (path string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), buildTimeout)
	defer cancel()
	path = filepath.Join(tb.TempDir(), "scenarios.test")
	if err := build(ctx, path); err != nil {
		tb.Fatalf("scenarios.test: %v", err)
	}
	return path
}

// build builds the program in the cache folder, and copies it to path. Without a cache folder
// the program is built at path.
func build(ctx context.Context, path string) error {
	dir, err := buildcache.Get(ctx, "scenariostest", "program", buildTimeout, func(_ context.Context, dir string) error { return os.Mkdir(dir, 0o755) })
	if errors.Is(err, buildcache.ErrNoFolder) {
		return compile(ctx, path)
	} else if err != nil {
		return err
	}
	unlock, err := buildcache.Lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	kept := filepath.Join(dir, "scenarios.test")
	if err := compile(ctx, kept); err != nil {
		return err
	}
	return copyFile(path, kept)
}

// compile has the go command build the program, unless it is at path already.
func compile(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", path, "github.com/seed-2b9cec6d/llmbench/scenarios")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w: %s", errors.Join(err, context.Cause(ctx)), out)
	}
	return nil
}

// copyFile copies a program. Another process may replace the original, but not change it.
func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
