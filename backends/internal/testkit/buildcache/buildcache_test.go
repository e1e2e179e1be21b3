package buildcache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o666))
	missing := filepath.Join(dir, "missing")
	here, err := os.Getwd()
	assert.NilError(t, err)
	for _, tt := range []struct{ environ, want, err string }{
		{"LLMBENCH_CACHE=", "", ""},
		{"LLMBENCH_CACHE=" + dir, dir, ""},
		{"LLMBENCH_CACHE=" + missing, missing, ""},
		{"LLMBENCH_CACHE=relative", filepath.Join(here, "relative"), ""},
		{"LLMBENCH_CACHE=" + file, "", "LLMBENCH_CACHE=" + file + ": want a folder, which may be missing"},
		{"LLMBENCH_CACHE=" + file + "/x", "", "LLMBENCH_CACHE=" + file + "/x: want a folder"},
	} {
		r := env.NewReader([]string{tt.environ})
		assert.Equal(t, readFolder(r), tt.want, tt.environ)
		if tt.err == "" {
			assert.NilError(t, r.Err(), tt.environ)
			continue
		}
		assert.ErrorContains(t, r.Err(), tt.err)
	}
}

// TestGet checks that a folder is built only once, that it only appears when it is complete, and
// that it is built again after an error.
func TestGet(t *testing.T) {
	t.Setenv("LLMBENCH_CACHE", t.TempDir())
	_, found, err := Find("server", "key")
	assert.NilError(t, err)
	assert.Assert(t, !found)

	broken := errors.New("broken")
	_, err = Get(t.Context(), "server", "key", time.Minute, func(_ context.Context, dir string) error {
		return errors.Join(os.Mkdir(dir, 0o755), broken)
	})
	assert.ErrorIs(t, err, broken)
	_, found, err = Find("server", "key")
	assert.NilError(t, err)
	assert.Assert(t, !found, "the cache has the folder of a build that failed")

	var builds atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			dir, err := Get(t.Context(), "server", "key", time.Minute, func(_ context.Context, dir string) error {
				builds.Add(1)
				return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o644))
			})
			if err != nil {
				t.Error(err)
				return
			}
			if content, err := os.ReadFile(filepath.Join(dir, "file")); string(content) != "content" {
				t.Errorf("content %q, error %v", content, err)
			}
		})
	}
	all.Wait()
	assert.Equal(t, builds.Load(), int32(1))
}

// TestGetWaits checks that the wait for another build ends at the limit.
func TestGetWaits(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("LLMBENCH_CACHE", cache)
	assert.NilError(t, os.Mkdir(filepath.Join(cache, "server"), 0o755))
	unlock, err := Lock(t.Context(), filepath.Join(cache, "server", "key.lock"))
	assert.NilError(t, err)
	defer unlock()
	_, err = Get(t.Context(), "server", "key", time.Millisecond, nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}
