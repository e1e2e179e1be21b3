package backends

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// MockContainer is the simulated server in a container: all that starting one
// takes, without a download. Args are flags of the command mockserver; Model is
// the profile's and cannot be chosen. An Image of "" is made of the program
// alone, built with the go command, which has to be there.
type MockContainer struct {
	Container
}

// Start returns the server as a target, once it is ready.
func (m MockContainer) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, m) }

func (m MockContainer) spec() (spec, error) {
	m.Model = "mock"
	if m.Image == "" {
		m.Image = mockImage
	}
	b := m.make("mock-container", "", 8000)
	b.accelerators(nvidia)
	b.words("-addr", "0.0.0.0:8000")
	return b.end()
}

// mockImage is the image that is built when there is none of this name; its tag
// is then that of what was built.
const mockImage = "llmbench/mockserver:built"

// mockBuild bounds the building of the simulated server.
const mockBuild = 5 * time.Minute

// buildMock makes the image of the simulated server, unless the engine has it,
// and returns its name, whose tag says what is in it.
func buildMock(ctx context.Context, e *engine.Engine) (name string, err error) {
	dir, err := os.MkdirTemp("", "llmbench-mock-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, mockBuild)
	defer cancel()
	program := filepath.Join(dir, "mockserver")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"github.com/seed-2b9cec6d/llmbench/mockserver/cmd/mockserver")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+e.Platform())
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the program of its image: go build: %w: %s", errors.Join(err, context.Cause(ctx)), out)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf("llmbench/mockserver:%x", sha256.Sum256(content))[:len("llmbench/mockserver:")+16]
	if e.Has(ctx, name) {
		return name, nil
	}
	return name, e.Import(ctx, name, "mockserver", content)
}
