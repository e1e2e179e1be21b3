package container

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
)

// buildTimeout limits the time to compile a program.
const buildTimeout = 5 * time.Minute

// built holds the names of the images that this process has built or found, by import path and platform.
// All starts in this process can use the same image, because the program does not change.
var built sync.Map

// building is a lock that buildImage holds. If several containers start at the same time, the first start builds
// the image, and the others find it built.
var building = make(chan struct{}, 1)

// buildImage builds an image of a Go command, given by its import path, unless the engine has the image
// already. It returns the image's name, whose tag is a hash of the program. A process compiles the program
// only once, unless the engine has lost the image.
func buildImage(ctx context.Context, e *engine.Engine, importPath string) (name string, err error) {
	select {
	case building <- struct{}{}:
		defer func() { <-building }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	key := importPath + " " + e.Platform()
	if known, is := built.Load(key); is && e.Has(ctx, known.(string)) {
		return known.(string), nil
	}
	content, err := compile(ctx, e, importPath)
	if err != nil {
		return "", err
	}
	base := path.Base(importPath)
	name = fmt.Sprintf("llmbench/%s:%.16s", base, fmt.Sprintf("%x", sha256.Sum256(content)))
	if !e.Has(ctx, name) {
		if err := e.Import(ctx, name, "/"+base, []engine.File{{Name: base, Content: content}}); err != nil {
			return name, err
		}
	}
	built.Store(key, name)
	return name, nil
}

// compile compiles a Go command, given by its import path, as a static executable for the engine's
// platform, and returns the executable.
func compile(ctx context.Context, e *engine.Engine, importPath string) (content []byte, err error) {
	dir, err := os.MkdirTemp("", "llmbench-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	program := filepath.Join(dir, path.Base(importPath))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, importPath)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+e.Platform())
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program for the image: go build: %w: %s", errors.Join(err, context.Cause(ctx)), out)
	}
	return os.ReadFile(program)
}
