package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// runGroup runs cmd, which has ctx, as a group of processes of its own: a Ctrl-C at
// the terminal reaches it once, through ctx, and when it has ended so has all that
// it started. It has a moment to clean up; when hard ends, none.
func runGroup(hard context.Context, cmd *exec.Cmd, moment time.Duration) error {
	ownGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	cmd.WaitDelay = moment
	if err := cmd.Start(); err != nil {
		return err
	}
	defer killGroup(cmd)
	defer context.AfterFunc(hard, func() { killGroup(cmd) })()
	return cmd.Wait()
}

// command runs a command in dir and returns what it prints to stdout. Its error
// says what it printed to stderr.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runGroup(context.Background(), cmd, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if text := bytes.TrimSpace(stderr.Bytes()); len(text) > 0 {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return stdout.String(), nil
}

// tail returns the last lines of what a process printed.
func tail(text []byte) []byte {
	const most = 40
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], nil)
}
