package llamatest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// dockerTimeout bounds one command of the Docker client, including the import of the
// image.
const dockerTimeout = 3 * time.Minute

// outputDelay bounds the wait for the end of the client's output after the client has exited. Another process that is being
// started holds the pipe until it runs its program, which takes seconds on a busy machine.
const outputDelay = time.Minute

// docker runs one command of the Docker client and returns what it prints.
func docker(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dockerTimeout)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = outputDelay
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(errOut.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// dockerUsable returns nil if there is a Docker engine that can run the image, and
// whose containers can be reached at their own addresses.
func dockerUsable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	info, err := docker(ctx, "info", "--format", "{{.OSType}}/{{.Architecture}} {{.OperatingSystem}} {{.SecurityOptions}}{{range .ServerErrors}} {{.}}{{end}}")
	switch {
	case err != nil:
		return fmt.Errorf("%w: no Docker engine: %w", need.ErrUnavailable, err)
	case !strings.HasPrefix(info, "linux/x86_64 ") && !strings.HasPrefix(info, "linux/amd64 "):
		return fmt.Errorf("%w: its packages are for linux/amd64, the Docker engine is %s", need.ErrUnavailable, info)
	case strings.Contains(info, "Docker Desktop") || strings.Contains(info, "name=rootless"):
		return fmt.Errorf("%w: the addresses of containers cannot be reached with this Docker engine: %s", need.ErrUnavailable, info)
	}
	return nil
}
