package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A buildCache keeps the servers that -build has built of commits, each in a folder of its own.
type buildCache struct{ path string }

// keepUnused is how long a build is kept that no command uses.
const keepUnused = 30 * 24 * time.Hour

// openBuildCache opens the folder ab in LLMBENCH_CACHE, or else in the folder llmbench of the user's cache folder.
func openBuildCache() (c buildCache, err error) {
	path := os.Getenv("LLMBENCH_CACHE")
	if path == "" {
		if path, err = os.UserCacheDir(); err != nil {
			return c, fmt.Errorf("no folder for what -build builds: %w; want one in LLMBENCH_CACHE", err)
		}
		path = filepath.Join(path, "llmbench")
	}
	if path, err = filepath.Abs(path); err == nil {
		c.path = filepath.Join(path, "ab")
		err = os.MkdirAll(c.path, 0o777)
	}
	if err != nil {
		return c, fmt.Errorf("the folder for what -build builds (LLMBENCH_CACHE): %w", err)
	}
	return c, nil
}

// A build has a folder KEY and a lock file KEY.lock in the cache. KEY/out is what {out} stands for: it is built there and
// never moved, because builds may contain its path. KEY/done exists if the build is complete, and its time is the last use.

// get returns the folder for {out} of a build, and calls build if the cache lacks it. Of several processes only one builds,
// and the others wait. tell is called with what get does if it does not build.
func (c buildCache) get(ctx context.Context, key string, tell func(string), build func(out string) error) (string, error) {
	dir := filepath.Join(c.path, key)
	lock := flock.New(dir + ".lock")
	alone, err := lock.TryLock()
	if err == nil && !alone {
		tell("another process builds it")
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return "", err
	}
	defer lock.Close()
	out, done := filepath.Join(dir, "out"), filepath.Join(dir, "done")
	now := time.Now()
	if os.Chtimes(done, now, now) == nil {
		tell("was built before, in " + out)
		return out, nil
	}
	if err := os.RemoveAll(dir); err != nil { // what a killed command left
		return "", err
	}
	if err := build(out); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	c.removeUnused(now.Add(-keepUnused))
	return out, writeFile(done, nil)
}

// removeUnused removes builds that were last used before a time. Errors do not matter: the next build tries again.
func (c buildCache) removeUnused(before time.Time) {
	all, _ := filepath.Glob(filepath.Join(c.path, "*", "done"))
	for _, done := range all {
		dir := filepath.Dir(done)
		lock := flock.New(dir + ".lock")
		if alone, err := lock.TryLock(); err != nil || !alone {
			continue
		}
		if info, err := os.Stat(done); err == nil && info.ModTime().Before(before) {
			os.Remove(done) // first: a folder that is half removed is no build
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
