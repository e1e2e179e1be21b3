package enginetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// A source is where engines come from.
type source interface {
	// key identifies what build would install. Its error wraps [need.ErrUnavailable] if nothing can be installed.
	key(e Engine) (string, error)
	// build installs the engine in dir, which does not exist. Its error wraps [need.ErrUnavailable] if this machine
	// cannot install the engine.
	build(ctx context.Context, e Engine, dir string) error
}

// debian are Debian packages.
type debian struct{ pins []byte } // see [debroot.Build]

func (d debian) key(Engine) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: its packages are for linux/amd64, this is %s/%s", need.ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	return debroot.Key(d.pins), nil
}

func (d debian) build(ctx context.Context, _ Engine, dir string) error {
	return debroot.Unpack(ctx, d.pins, dir)
}

// installTimeout bounds an installation of up to 3 GB, and the wait for another process that installs.
const installTimeout = time.Hour

// Install installs the engine if it is not installed, and returns its folder. An installation that was interrupted is
// made again. The error wraps [need.ErrUnavailable] if this machine cannot install the engine, and says in one line
// why.
func (e Engine) Install(ctx context.Context) (dir string, err error) {
	key, err := e.source.key(e)
	if err == nil {
		dir, err = buildcache.Get(ctx, cacheName, e.Name+"-"+key, installTimeout, func(ctx context.Context, dir string) error {
			return e.source.build(ctx, e, dir)
		})
	}
	return dir, e.name(err)
}

// Installed returns the folder of the engine. The error wraps [need.ErrUnavailable] if the engine is not installed.
func (e Engine) Installed() (dir string, err error) {
	key, err := e.source.key(e)
	found := false
	if err == nil {
		dir, found, err = buildcache.Find(cacheName, e.Name+"-"+key)
	}
	if err == nil && !found {
		err = fmt.Errorf("%w: it is not installed; install it by: go run ./.ci/engines -install %s", need.ErrUnavailable, e.Name)
	}
	return dir, e.name(err)
}

// name returns an error that names the engine, or nil.
func (e Engine) name(err error) error {
	switch {
	case errors.Is(err, need.ErrUnavailable):
		return fmt.Errorf("%s is %w", e.Name, err)
	case err != nil:
		return fmt.Errorf("enginetest: %s: %w", e.Name, err)
	}
	return nil
}

// sum returns a short hash of texts.
func sum(texts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(texts, "\x00"))))[:16]
}
