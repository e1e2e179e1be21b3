package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// RunGroup runs cmd in its own process group, so that Ctrl-C at a terminal does not reach it directly. When the
// context of cmd ends, the group gets an interrupt signal and has the time delay to end. When hard ends, the
// group is killed at once. When RunGroup returns, no process of the group is left.
func RunGroup(hard context.Context, cmd *exec.Cmd, delay time.Duration) error {
	ownGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	cmd.WaitDelay = delay
	if err := cmd.Start(); err != nil {
		return err
	}
	defer killGroup(cmd)
	defer context.AfterFunc(hard, func() { killGroup(cmd) })()
	return cmd.Wait()
}

// Command runs a command in dir and returns its standard output. An error includes the command line and the
// standard error.
func Command(ctx context.Context, dir, name string, args ...string) (string, error) {
	stdout, err := Output(ctx, dir, nil, name, args...)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return stdout, err
}

// Output runs a command in dir, with the additional environment variables env, and returns its standard output.
// An error includes the standard error.
func Output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := RunGroup(context.Background(), cmd, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if text := bytes.TrimSpace(stderr.Bytes()); len(text) > 0 {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", err
	}
	return stdout.String(), nil
}

// Tail returns the last 40 lines of text.
func Tail(text []byte) []byte {
	const most = 40
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], nil)
}
