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

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

//go:embed rootfs.sh
var script []byte

// buildTimeout bounds the build, including the wait for another process that builds.
const buildTimeout = 5 * time.Minute

// stopDelay is how long the pipes of a killed script may stay open.
const stopDelay = time.Second

// exitUnavailable is the exit status of the script if this machine cannot build the
// root filesystem.
const exitUnavailable = 3

// Build returns the path of the named root filesystem, which contains the packages in pins. rootfs.sh
// describes the format of pins. Build takes the root filesystem from the cache, or builds it if the cache
// has none for this script and these packages; see [buildcache.Get]. The error wraps [need.ErrUnavailable] if
// this machine cannot download or unpack the packages.
func Build(name string, pins []byte) (root string, err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: its Debian packages are for linux/amd64, this is %s/%s", need.ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	return buildcache.Get(context.Background(), name, Key(pins), buildTimeout, func(ctx context.Context, root string) error {
		return Unpack(ctx, pins, root)
	})
}

// Command returns the command that runs a program of a root filesystem without a chroot: the packages' own dynamic
// linker finds the packages' libraries (ld.so(8)).
func Command(root, program string) []string {
	return []string{
		filepath.Join(root, "lib64/ld-linux-x86-64.so.2"),
		"--library-path", filepath.Join(root, "usr/lib/x86_64-linux-gnu"),
		filepath.Join(root, program),
	}
}

// Key identifies the content of a root filesystem: it is a hash of the script and of the pins.
func Key(pins []byte) string {
	h := sha256.New()
	h.Write(script)
	h.Write(pins)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// Unpack runs the script, which creates root, a folder that does not exist. The error wraps [need.ErrUnavailable] if
// this machine cannot download or unpack the packages.
func Unpack(ctx context.Context, pins []byte, root string) error {
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
		return fmt.Errorf("%w: %w", need.ErrUnavailable, err)
	}
	cmd := exec.CommandContext(ctx, bash, scriptFile, pinsFile, root)
	out, err := child.Output(cmd, stopDelay) // kills a download that the script waits for, too
	switch message := strings.TrimSpace(string(out)); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: its Debian packages were not fetched and unpacked in %v: %s", need.ErrUnavailable, buildTimeout, message)
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitUnavailable:
		return fmt.Errorf("%w: %s", need.ErrUnavailable, message)
	default:
		return fmt.Errorf("debroot: %w: %s", err, message)
	}
}
