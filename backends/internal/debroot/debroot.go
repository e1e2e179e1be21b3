// Package debroot unpacks Debian packages into root filesystems, for tests that need a real
// server.
//
// The packages of a root filesystem are pinned by version and SHA-256 sum. They are downloaded
// from the mirror that apt uses on the machine, or from LLMBENCH_DEBIAN_MIRROR, and unpacked once
// into the user's cache folder or into LLMBENCH_CACHE.
package debroot

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

//go:embed rootfs.sh
var script []byte

// ErrUnavailable is wrapped by errors that say why this machine cannot unpack the packages.
var ErrUnavailable = errors.New("its Debian packages cannot be had here")

// buildTimeout bounds the build, including the wait for another process that builds.
const buildTimeout = 5 * time.Minute

// exitUnavailable is the exit status of the script if this machine cannot build the
// root filesystem.
const exitUnavailable = 3

// Build returns the path of the root filesystem of that name with the packages of pins, which
// have the format that rootfs.sh describes. It builds the root filesystem if the cache has none
// for this script and these packages. Only one process builds at a time, and the result appears
// complete, so that processes can share it. The error wraps [ErrUnavailable] if this machine
// cannot download or unpack the packages.
func Build(name string, pins []byte) (root string, err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: they are for linux/amd64, this is %s/%s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	dir, err := cacheFolder(name)
	if err != nil {
		return "", err
	}
	root = filepath.Join(dir, Key(pins))
	if isDir(root) {
		return root, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	unlock, err := Lock(ctx, root+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if isDir(root) { // another process has built it
		return root, nil
	}
	part := root + ".part" // may be left from a build that was killed
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := run(ctx, pins, part); err != nil {
		return "", errors.Join(err, os.RemoveAll(part))
	}
	return root, os.Rename(part, root)
}

// Key identifies the content of a root filesystem: it is a hash of the script and of the pins.
func Key(pins []byte) string {
	h := sha256.New()
	h.Write(script)
	h.Write(pins)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// cacheFolder returns the folder of the root filesystems of a name, which it creates.
func cacheFolder(name string) (string, error) {
	r := env.NewReader(os.Environ())
	dir := readSettings(r).cache
	if err := r.Err(); err != nil {
		return "", err
	}
	set := dir != ""
	if !set {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w: no cache directory: %w", ErrUnavailable, err)
		}
		dir = filepath.Join(cache, "llmbench")
	}
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil && set {
		return "", fmt.Errorf("LLMBENCH_CACHE: %w", err)
	} else if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return dir, nil
}

// run runs the script, which creates root.
func run(ctx context.Context, pins []byte, root string) error {
	dir, err := os.MkdirTemp("", "debroot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scriptFile, pinsFile := filepath.Join(dir, "rootfs.sh"), filepath.Join(dir, "packages.sha256")
	if err := errors.Join(os.WriteFile(scriptFile, script, 0o644), os.WriteFile(pinsFile, pins, 0o644)); err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	cmd := exec.CommandContext(ctx, bash, scriptFile, pinsFile, root)
	killGroup(cmd) // including a download that the script waits for
	out, err := cmd.CombinedOutput()
	switch message := strings.TrimSpace(string(out)); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: they were not fetched and unpacked in %v: %s", ErrUnavailable, buildTimeout, message)
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitUnavailable:
		return fmt.Errorf("%w: %s", ErrUnavailable, message)
	default:
		return fmt.Errorf("debroot: %w: %s", err, message)
	}
}

func isDir(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.IsDir()
}
