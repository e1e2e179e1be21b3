package measure

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"gotest.tools/v3/assert"
)

// TestBuildCache checks that a build happens only once even if several commands need it at the same time, that
// a failed build is repeated, and that old builds are removed.
func TestBuildCache(t *testing.T) {
	t.Setenv("LLMBENCH_CACHE", t.TempDir())
	cache, err := openBuildCache()
	assert.NilError(t, err)
	quiet := func(string) {}
	var builds atomic.Int32
	build := func(out string) error {
		builds.Add(1)
		return errors.Join(os.MkdirAll(out, 0o777), os.WriteFile(filepath.Join(out, "server"), []byte("complete"), 0o666))
	}
	broken := errors.New("broken")
	_, err = cache.get(t.Context(), "a", quiet, func(out string) error { return errors.Join(build(out), broken) })
	assert.ErrorIs(t, err, broken)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out, err := cache.get(t.Context(), "a", quiet, build)
			text, readErr := os.ReadFile(filepath.Join(out, "server"))
			assert.Check(t, err)
			assert.Check(t, readErr)
			assert.Check(t, string(text) == "complete")
		})
	}
	all.Wait()
	assert.Equal(t, builds.Load(), int32(2))

	// A build that was killed is repeated.
	assert.NilError(t, build(filepath.Join(cache.path, "b", "out")))
	assert.NilError(t, os.WriteFile(filepath.Join(cache.path, "b", "out", "rest"), nil, 0o666))
	out, err := cache.get(t.Context(), "b", quiet, build)
	assert.NilError(t, err)
	_, err = os.Stat(filepath.Join(out, "rest"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	// A command that waits for another build can be interrupted.
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = cache.get(t.Context(), "c", quiet, func(out string) error {
		_, err := cache.get(ctx, "c", func(string) { cancel(proc.ErrInterrupted) }, build)
		assert.ErrorIs(t, err, context.Canceled)
		return build(out)
	})
	assert.NilError(t, err)

	old := time.Now().Add(-keepUnused - time.Hour)
	for _, key := range []string{"a", "b"} {
		assert.NilError(t, os.Chtimes(filepath.Join(cache.path, key, "done"), old, old))
	}
	_, err = cache.get(t.Context(), "b", quiet, build) // uses build b
	assert.NilError(t, err)
	_, err = cache.get(t.Context(), "d", quiet, build)
	assert.NilError(t, err)
	left, err := filepath.Glob(filepath.Join(cache.path, "*", "done"))
	assert.NilError(t, err)
	var names []string
	for _, path := range left {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	assert.DeepEqual(t, names, []string{"b", "c", "d"})
}

// TestBuildKey checks which changes lead to another key.
func TestBuildKey(t *testing.T) {
	tools := t.TempDir()
	t.Setenv("PATH", tools)
	key := func() string { return buildKey("0123456789abcdef", "sub/", "make") }
	first := key()
	assert.Assert(t, strings.HasPrefix(first, "0123456789ab-"), first)
	assert.Equal(t, key(), first)
	assert.Assert(t, buildKey("0123456789abcdef", "", "make") != first)
	assert.Assert(t, buildKey("0123456789abcdef", "sub/", "make x") != first)
	assert.Assert(t, buildKey("0123456789abcdee", "sub/", "make") != first)
	t.Setenv("GITHUB_RUN_ID", "7")
	assert.Equal(t, key(), first)
	t.Setenv("CXXFLAGS", "-O3")
	second := key()
	assert.Assert(t, second != first)
	cc := filepath.Join(tools, "cc")
	assert.NilError(t, os.WriteFile(cc, nil, 0o777))
	third := key()
	assert.Assert(t, third != second)
	assert.NilError(t, os.Chtimes(cc, time.Unix(1, 0), time.Unix(1, 0)))
	assert.Assert(t, key() != third)
	_, err := exec.LookPath("cc")
	assert.NilError(t, err)
}
