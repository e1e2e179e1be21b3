package measure

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
)

// A buildCache keeps the servers that -build has built from commits. Each build has its own folder.
type buildCache struct{ path string }

// keepUnused is how long a build is kept after its last use.
const keepUnused = 30 * 24 * time.Hour

// openBuildCache opens the cache. The cache is the folder ab in $LLMBENCH_CACHE or, if that is not set,
// llmbench/ab in the user's cache folder.
func openBuildCache() (c buildCache, err error) {
	path := os.Getenv("LLMBENCH_CACHE")
	if path == "" {
		if path, err = os.UserCacheDir(); err != nil {
			return c, fmt.Errorf("no folder for what -build builds: %w: want one in LLMBENCH_CACHE", err)
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

// A build consists of the folder KEY and the lock file KEY.lock in the cache. {out} stands for KEY/out. The
// server is built in that folder and never moved, because what was built may contain the folder's path.
// KEY/done exists if the build is complete, and its modification time is the last use.

// get returns the {out} folder of a build, and calls build if the cache lacks it. If several processes need the
// same build, one builds and the others wait. get reports to tell when it finds the build or waits for another
// process.
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
	if err := os.RemoveAll(dir); err != nil { // remains of a killed command
		return "", err
	}
	if err := build(out); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	c.removeUnused(now.Add(-keepUnused))
	return out, command.WriteFile(done, nil)
}

// removeUnused removes builds whose last use was before the given time. It ignores errors, because the next
// build tries again.
func (c buildCache) removeUnused(before time.Time) {
	all, _ := filepath.Glob(filepath.Join(c.path, "*", "done"))
	for _, done := range all {
		dir := filepath.Dir(done)
		lock := flock.New(dir + ".lock")
		if alone, err := lock.TryLock(); err != nil || !alone {
			continue
		}
		if info, err := os.Stat(done); err == nil && info.ModTime().Before(before) {
			os.Remove(done) // remove done first, so that a partly removed folder does not count as a build
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
