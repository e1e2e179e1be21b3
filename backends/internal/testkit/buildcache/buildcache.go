// Package buildcache keeps what tests download and build, such as servers, in the user's cache
// folder or in LLMBENCH_CACHE.
package buildcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// Get returns the cached folder with the given name and key. The key identifies the content of the folder.
// If the folder is not in the cache, Get calls build, which must create the folder dir. Only one process
// builds at a time, and the folder becomes visible only when it is complete, so processes can share it.
// limit bounds the build, including the wait for another process that builds.
func Get(ctx context.Context, name, key string, limit time.Duration, build func(ctx context.Context, dir string) error) (dir string, err error) {
	dir, err = path(name, key)
	if err != nil || isDir(dir) {
		return dir, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	unlock, err := Lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if isDir(dir) { // another process has built it
		return dir, nil
	}
	part := dir + ".part" // may be left from a build that was killed
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := build(ctx, part); err != nil {
		return "", errors.Join(err, os.RemoveAll(part))
	}
	return dir, os.Rename(part, dir)
}

// Find returns the path of the folder with the given name and key, and whether it is in the cache.
func Find(name, key string) (dir string, found bool, err error) {
	dir, err = path(name, key)
	return dir, err == nil && isDir(dir), err
}

// path returns the path of the folder with the given name and key, and creates its parent folder.
func path(name, key string) (string, error) {
	r := env.NewReader(os.Environ())
	cache := readFolder(r)
	if err := r.Err(); err != nil {
		return "", err
	}
	set := cache != ""
	if !set {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w: no cache folder: %w", need.ErrUnavailable, err)
		}
		cache = filepath.Join(user, "llmbench")
	}
	cache = filepath.Join(cache, name)
	if err := os.MkdirAll(cache, 0o755); err != nil && set {
		return "", fmt.Errorf("LLMBENCH_CACHE: %w", err)
	} else if err != nil {
		return "", fmt.Errorf("%w: no cache folder: %w", need.ErrUnavailable, err)
	}
	return filepath.Join(cache, key), nil
}

func isDir(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.IsDir()
}
