// Package scenariostest builds the test program of package scenarios, for tests that run it in separate
// processes to measure a server.
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

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// buildTimeout bounds the building of the program, and the wait for another process that builds it.
const buildTimeout = 10 * time.Minute

// Program returns the path of the test program of package scenarios, built from the sources at the time of
// the first call in this process. The program is removed when tb ends. A copy stays in the cache folder, so
// that the go command links the program again only if the sources have changed.
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

// built builds the program once in this process, and returns an open file with the program. Another process
// may replace the file in the cache folder, but cannot change the content of the open file.
var built = sync.OnceValues(func() (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	dir, err := buildcache.Get(ctx, "scenariostest", "program", buildTimeout, func(_ context.Context, dir string) error { return os.Mkdir(dir, 0o755) })
	if errors.Is(err, need.ErrUnavailable) {
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

// compile runs the go command to build the program, unless the program at path is up to date.
func compile(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", path, "github.com/seed-2b9cec6d/llmbench/scenarios")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w: %s", errors.Join(err, context.Cause(ctx)), out)
	}
	return nil
}

// writeProgram writes a program to path. Several goroutines may read the program's file at the same time.
// writeProgram prevents this process from starting other processes in the meantime: a new process would
// briefly hold the file open for writing, and the system would refuse to run the program during that time.
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
