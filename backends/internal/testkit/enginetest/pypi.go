package enginetest

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// recipes has the packages of each engine with their SHA-256 sums, in NAME.txt, and of uv, which installs them.
// lock.sh writes these files. Scripts whose names begin with an engine's name are installed beside the packages.
//
//go:embed recipes
var recipes embed.FS

// pypi is the Python Package Index, or the index that the configuration of pip and uv names instead.
type pypi struct{}

// revision is increased whenever equal recipes are installed in another way.
const revision = "1"

func (pypi) key(e Engine) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("%w: its packages are for linux/amd64, this is %s/%s", need.ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	version, err := pythonVersion()
	if err != nil {
		return "", err
	}
	texts := []string{revision, version}
	for _, name := range e.recipe() {
		text, err := recipes.ReadFile(name)
		if err != nil {
			return "", err
		}
		texts = append(texts, name, string(text))
	}
	return sum(texts...), nil
}

// recipe returns the files that are installed: the list of packages and the scripts of the engine.
func (e Engine) recipe() []string {
	scripts, _ := fs.Glob(recipes, "recipes/"+e.Name+".*py") // the pattern is valid
	return append(scripts, "recipes/"+e.Name+".txt")
}

// pythonVersion returns the version of this machine's Python, such as 3.11. An installation belongs to one version.
var pythonVersion = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		return "", fmt.Errorf("%w: no python3: %w (Debian: apt-get install python3 python3-venv)", need.ErrUnavailable, err)
	}
	return strings.TrimSpace(string(out)), nil
})

// python returns the Python of an installation.
func python(dir string) string { return filepath.Join(dir, "venv", "bin", "python") }

func (pypi) build(ctx context.Context, e Engine, dir string) error {
	if err := e.check(ctx); err != nil {
		return err
	}
	uv, err := installUV(ctx, filepath.Join(filepath.Dir(dir), "wheels"))
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range e.recipe() {
		text, err := recipes.ReadFile(name)
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644)); err != nil {
			return err
		}
	}
	if err := run(ctx, uv.env, uv.path, "venv", "-q", "--python", "python3", filepath.Join(dir, "venv")); err != nil {
		return err
	}
	// Without --no-build, uv would compile what has no wheel for this machine's Python, which takes long.
	args := []string{"pip", "install", "-q", "--python", python(dir), "--require-hashes", "--no-deps", "--no-build", "-r", filepath.Join(dir, e.Name+".txt")}
	if run(ctx, uv.env, uv.path, append(args, "--offline")...) != nil { // the cache lacks a package
		if err := run(ctx, uv.env, uv.path, args...); err != nil {
			return err
		}
	}
	if e.prepare == nil {
		return nil
	}
	return e.prepare(ctx, e, dir)
}

// check returns an error if this machine lacks something that the engine needs.
func (e Engine) check(ctx context.Context) error {
	for _, n := range append([]needed{{"import venv, ensurepip", "python3-venv"}}, e.needs...) {
		if exec.CommandContext(ctx, "python3", "-c", n.python).Run() != nil {
			return fmt.Errorf("%w: python3 cannot %q (Debian: apt-get install %s)", need.ErrUnavailable, n.python, n.debian)
		}
	}
	return nil
}

// needed is something that a machine must have.
type needed struct {
	python string // a statement that fails where it is missing
	debian string // the package that has it
}

// A tool is a program with its environment.
type tool struct {
	path string
	env  []string
}

// uvTimeout bounds the installation of uv.
const uvTimeout = 5 * time.Minute

// installUV installs uv (https://docs.astral.sh/uv/), which finds and installs packages within seconds where pip needs
// minutes. It keeps what it downloads in the folder wheels.
func installUV(ctx context.Context, wheels string) (tool, error) {
	lock, err := recipes.ReadFile("recipes/uv.txt")
	if err != nil {
		return tool{}, err
	}
	version, err := pythonVersion()
	if err != nil {
		return tool{}, err
	}
	dir, err := buildcache.Get(ctx, cacheName, "uv-"+sum(string(lock), version), uvTimeout, func(ctx context.Context, dir string) error {
		file := filepath.Join(dir, "uv.txt")
		if err := run(ctx, nil, "python3", "-m", "venv", filepath.Join(dir, "venv")); err != nil {
			return err
		}
		if err := os.WriteFile(file, lock, 0o644); err != nil {
			return err
		}
		return run(ctx, nil, python(dir), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries=1", "--timeout=20", "--require-hashes", "-r", file)
	})
	return tool{filepath.Join(dir, "venv", "bin", "uv"), []string{"UV_CACHE_DIR=" + wheels, "UV_PYTHON_DOWNLOADS=never", "UV_NO_PROGRESS=1"}}, err
}

// unreachable matches what pip and uv write, to the end of the line, if the index cannot be reached.
var unreachable = regexp.MustCompile(`(?m)(NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|error sending request|dns error|tcp connect error|operation timed out).*$`)

// noWheel matches what uv writes, to the end of the line, if a package has no wheel for this machine's Python or C
// library.
var noWheel = regexp.MustCompile(`(?m)\S+ has no (usable )?wheels.*$`)

// run runs a command. The error wraps [need.ErrUnavailable], and is one line, if the command could not reach the index
// of packages, or if the index has no package for this machine.
func run(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := child.Output(cmd, stopDelay)
	if err == nil {
		return nil
	}
	if line := unreachable.Find(out); line != nil {
		return fmt.Errorf("%w: the index of Python packages cannot be reached: %.200s", need.ErrUnavailable, bytes.TrimSpace(line))
	}
	if line := noWheel.Find(out); line != nil {
		return fmt.Errorf("%w: %.200s", need.ErrUnavailable, bytes.TrimSpace(line))
	}
	return fmt.Errorf("enginetest: %s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), errors.Join(err, ctx.Err()), out)
}
