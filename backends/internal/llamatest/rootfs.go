package llamatest

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
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

var (
	//go:embed rootfs.sh
	rootfsScript []byte
	//go:embed packages.sha256
	rootfsPins []byte
)

// serverPath is the path of the server in the root filesystem.
const serverPath = "/usr/bin/llama-server"

// buildTimeout bounds the build, including the wait for another process that builds.
const buildTimeout = 5 * time.Minute

// exitUnavailable is the exit status of the script if this machine cannot build the
// root filesystem.
const exitUnavailable = 3

// rootfs returns the path of the root filesystem with llama-server. It builds the root
// filesystem if the cache has none for this script and these packages. Only one
// process builds at a time, and the result appears complete, so that processes can
// share it. Later calls return the result of the first one.
var rootfs = sync.OnceValues(func() (root string, err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: its packages are for linux/amd64, this is %s/%s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	r := env.NewReader(os.Environ())
	dir := readSettings(r).cache
	if err := r.Err(); err != nil {
		return "", err
	}
	cacheSet := dir != ""
	if !cacheSet {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w: no cache directory: %w", ErrUnavailable, err)
		}
		dir = filepath.Join(cache, "llmbench")
	}
	dir = filepath.Join(dir, "llamatest")
	root = filepath.Join(dir, rootfsKey())
	if isDir(root) {
		return root, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil && cacheSet {
		return "", fmt.Errorf("LLMBENCH_CACHE: %w", err)
	} else if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	unlock, err := lock(ctx, root+".lock")
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
	if err := buildRootfs(ctx, part); err != nil {
		return "", errors.Join(err, os.RemoveAll(part))
	}
	return root, os.Rename(part, root)
})

// rootfsKey identifies the content of the root filesystem: a hash of the script and of
// the packages' pins.
func rootfsKey() string {
	h := sha256.New()
	h.Write(rootfsScript)
	h.Write(rootfsPins)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// buildRootfs runs the script, which creates root.
func buildRootfs(ctx context.Context, root string) error {
	dir, err := os.MkdirTemp("", "llamatest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "rootfs.sh")
	if err := errors.Join(
		os.WriteFile(script, rootfsScript, 0o644),
		os.WriteFile(filepath.Join(dir, "packages.sha256"), rootfsPins, 0o644),
	); err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	cmd := exec.CommandContext(ctx, bash, script, root)
	killGroup(cmd) // including a download that the script waits for
	out, err := cmd.CombinedOutput()
	switch message := strings.TrimSpace(string(out)); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: its packages were not fetched and unpacked in %v: %s", ErrUnavailable, buildTimeout, message)
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitUnavailable:
		return fmt.Errorf("%w: %s", ErrUnavailable, message)
	default:
		return fmt.Errorf("llamatest: %w: %s", err, message)
	}
}

func isDir(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.IsDir()
}
