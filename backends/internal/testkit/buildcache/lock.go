package buildcache

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// Lock waits for the lock on the file at path. It creates the file, which is never removed. The lock is
// held until unlock is called or this process ends.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o644))
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = l.Unlock() }, nil
}
