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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/buildcache"
)

// buildTimeout bounds the building of the program, and the wait for another process that builds it.
const buildTimeout = 10 * time.Minute

// Program returns the path of the test program of package scenarios, as the sources were when this
// process first asked for the program. The program is removed when tb ends. A copy stays in the cache
// folder: the go command links the program again only if that copy is not of the same sources.
func Program(tb testing.TB) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "scenarios.test")
	program, err := built()
	if err == nil {
		err = writeProgram(path, program)
	}
	if err != nil {
		tb.Fatalf("scenarios.test: %v", err)
	}
	return path
}

// built builds the program once in this process, and returns the program's open file. Another process
// may replace the file in the cache folder, but not change what is open.
var built = sync.OnceValues(func() (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	dir, err := buildcache.Get(ctx, "scenariostest", "program", buildTimeout, func(_ context.Context, dir string) error { return os.Mkdir(dir, 0o755) })
	if errors.Is(err, buildcache.ErrNoFolder) {
		if dir, err = os.MkdirTemp("", "scenariostest-"); err == nil {
			defer os.RemoveAll(dir)
		}
	}
	if err != nil {
		return nil, err
	}
	unlock, err := buildcache.Lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	kept := filepath.Join(dir, "scenarios.test")
	if err := compile(ctx, kept); err != nil {
		return nil, err
	}
	return os.Open(kept)
})

// compile has the go command build the program, unless it is at path already.
func compile(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", path, "github.com/seed-2b9cec6d/llmbench/scenarios")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w: %s", errors.Join(err, context.Cause(ctx)), out)
	}
	return nil
}

// writeProgram writes a program to path. Several goroutines may read the program's file at a time. No process
// is started meanwhile: it would hold the file open for writing for a moment, in which the system refuses
// to run the program.
func writeProgram(path string, program *os.File) (err error) {
	info, err := program.Stat()
	if err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(program, 0, info.Size()))
	return errors.Join(err, out.Close())
}
