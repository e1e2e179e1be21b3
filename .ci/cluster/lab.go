//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// These constants describe the network of a lab.
const (
	bridge   = "lab"
	network  = "10.77.0"
	headAddr = network + ".1" // the address of the daemons of the engine and of the simulated server
	mockPort = "8000"
	mockURL  = "http://" + headAddr + ":" + mockPort
)

// A lab is the set of namespaces in which an engine runs. All nodes share its folder.
type lab struct {
	dir   string
	mock  *mock
	nodes []*node
}

// open sets up the network of the lab, and starts the simulated server.
func (l *lab) open(ctx context.Context) error {
	if err := ownMounts("head"); err != nil {
		return err
	}
	for _, f := range []string{"log", "records"} {
		if err := os.MkdirAll(filepath.Join(l.dir, f), 0o755); err != nil {
			return err
		}
	}
	err := commands(ctx,
		"ip link set lo up",
		"ip link add "+bridge+" type bridge",
		"ip addr add "+headAddr+"/24 dev "+bridge,
		"ip link set "+bridge+" up",
	)
	if err == nil {
		l.mock, err = startMock(headAddr + ":" + mockPort)
	}
	return err
}

// commands runs commands whose words have no spaces, one after the other, until one fails.
func commands(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if _, err := command(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command for a minute at most, and returns its standard output.
func command(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// daemon starts a command that runs until the lab ends. Its output is in the log with that name.
func (l *lab) daemon(name string, args ...string) error {
	log, err := os.Create(filepath.Join(l.dir, "log", name))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		err := cmd.Wait()
		fmt.Fprintf(os.Stderr, "%s has ended: %v\n", name, err)
	}()
	return nil
}

// until calls f again and again until it returns nil. After the limit it returns the last error of
// f.
func until(ctx context.Context, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %w", limit, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// lastLines is how many lines of each log are shown after an error.
const lastLines = 8

// logs returns the ends of the logs of all daemons as an error.
func (l *lab) logs() error {
	files, err := filepath.Glob(filepath.Join(l.dir, "log", "*"))
	slices.Sort(files)
	all := []error{err}
	for _, f := range files {
		text, err := os.ReadFile(f)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all = append(all, err, fmt.Errorf("the end of the log of %s:\n\t%s", filepath.Base(f), strings.Join(lines[max(0, len(lines)-lastLines):], "\n\t")))
	}
	return errors.Join(all...)
}
