package ollamatest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Ollama's module. Its licence is MIT, and none of its code is linked into this module.
const (
	module = "github.com/ollama/ollama"
	// Version is the version of Ollama without the leading v.
	Version = "0.17.4"
)

//go:embed packages.sha256
var pins []byte

const (
	name         = "ollamatest"     // name of its folders in the cache
	buildTimeout = 12 * time.Minute // including the wait for another process that builds
	stopDelay    = 5 * time.Second
)

// compiler is the script that compiles C++. The go command runs it in the folder of a package. Only ggml is
// optimized, because a server spends its time in ggml's loops. The rest is llama.cpp, which takes a third of
// the time to compile without optimization.
const compiler = `#!/bin/sh
case $PWD in
*/ggml*) exec g++ "$@" -O2 ;;
*) exec g++ "$@" ;;
esac
`

// recipe is the command of the build. The result depends on it, on the compiler and on the headers.
var recipe = []string{
	"go", "install", "-trimpath", "-buildvcs=false",
	"-ldflags=-s -w -X " + module + "/version.Version=" + Version,
	module + "@v" + Version,
}

// key identifies the program in the cache.
func key() string {
	sum := sha256.Sum256([]byte(strings.Join(recipe, " ") + compiler + debroot.Key(pins)))
	return fmt.Sprintf("%x", sum[:8])
}

// find returns the path of the program if the cache has it.
func find() (program string, err error) {
	dir, found, err := buildcache.Find(name, key())
	if err == nil && !found {
		err = fmt.Errorf("%w: it is not built; build it in about three minutes of CPU time by: go run ./backends/internal/testkit/ollamatest/cmd/ollamaserver -build", need.ErrUnavailable)
	}
	return filepath.Join(dir, "ollama"), err
}

// Build builds Ollama if the cache does not have it, and returns the path of the program. The error
// wraps [need.ErrUnavailable] if this machine cannot build it.
func Build(ctx context.Context) (program string, err error) {
	if program, err = find(); err == nil { // needs no compiler
		return program, nil
	}
	for _, tool := range []string{"go", "gcc", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%w: %w", need.ErrUnavailable, err)
		}
	}
	headers, err := debroot.Build(name+"-headers", pins)
	if err != nil {
		return "", err
	}
	dir, err := buildcache.Get(ctx, name, key(), buildTimeout, func(ctx context.Context, dir string) error {
		return build(ctx, filepath.Join(headers, "usr/include"), dir)
	})
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, need.ErrUnavailable) { // while waiting for another build
		err = fmt.Errorf("%w: another process builds it for longer than %v", need.ErrUnavailable, buildTimeout)
	}
	return filepath.Join(dir, "ollama"), err
}

// build installs the program in dir, which it creates.
func build(ctx context.Context, include, dir string) error {
	// llama.cpp includes miniaudio/miniaudio.h, but Debian installs the header without that folder.
	extra := dir + ".include"
	cxx := filepath.Join(extra, "c++")
	defer os.RemoveAll(extra)
	if err := errors.Join(os.RemoveAll(extra), os.Mkdir(extra, 0o755), os.Symlink(include, filepath.Join(extra, "miniaudio")),
		os.WriteFile(cxx, []byte(compiler), 0o755), os.Mkdir(dir, 0o755)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, recipe[0], recipe[1:]...)
	cmd.Dir = dir // outside of any module
	// The build is faster without -g, which is one of the default flags.
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=1",
		"CGO_CPPFLAGS=-I"+include+" -I"+extra, "CGO_CFLAGS=-O2", "CGO_CXXFLAGS=-O0", "CXX="+cxx)
	out, err := child.Output(cmd, stopDelay)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w; the end of its output:\n%s", need.ErrUnavailable, strings.Join(recipe, " "), err, tail(string(out)))
	}
	return nil
}

// tail returns the last lines of text.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
