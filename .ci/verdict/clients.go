package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// script is the script that k6 runs. It prints a result in Go benchmark format.
//
//go:embed k6.js
var script string

// maxBuild is the maximum time for building the programs. The first build of k6 takes minutes.
const maxBuild = 30 * time.Minute

// build builds the client and the mock server in the folder dir.
func (b *bench) build(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxBuild, fmt.Errorf("not built after %v", maxBuild))
	defer cancel()
	b.client, b.mock = filepath.Join(dir, "client"), filepath.Join(dir, "mockserver")
	client := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.client, "./scenarios")
	if b.check == k6 {
		client = exec.CommandContext(ctx, "go", "build", "-o", b.client, "./cmd/k6")
		client.Dir = filepath.Join("llmbench", "k6") // k6 is in a separate module
	}
	for _, c := range []*exec.Cmd{client, exec.CommandContext(ctx, "go", "build", "-o", b.mock, "./mockserver/cmd/mockserver")} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", c, errors.Join(err, context.Cause(ctx)), out)
		}
	}
	return nil
}

// runClient runs the client and returns what it printed. The client writes its records to the folder out.
func (b *bench) runClient(ctx context.Context, l load, url, out string) (string, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	requests := max(16, b.waves*l.Streams)
	variables := map[string]string{
		"URL": url, "MODEL": b.model, "INPUT": "32", "OUTPUT": strconv.Itoa(b.tokens), "CONCURRENCY": strconv.Itoa(l.Streams),
		"REQUESTS": strconv.Itoa(requests), "WARMUP": strconv.Itoa(l.Streams), "OUT": out, "CLIENT_BOUND": "withhold", "PRIORITY": l.Priority,
	}
	command := []string{b.client, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x"}
	switch b.check {
	case starved:
		variables["CLIENT_BOUND"] = "report"
	case k6:
		variables = map[string]string{"URL": url, "OUT": out}
		command = []string{b.client, "run", "--no-usage-report", "--quiet", "--address=", "-"}
		for name, value := range map[string]int{"VUS": l.Streams, "ITERATIONS": b.waves, "TOKENS": b.tokens} {
			command = slices.Insert(command, 2, "--env", fmt.Sprintf("%s=%d", name, value))
		}
	}
	c := pinned(ctx, b.clientCore, command...)
	c.Stdin = strings.NewReader(script) // only k6 reads the script
	c.Dir = "scenarios"                 // go test would run it there, too
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") || strings.HasPrefix(v, "K6_") })
	for name, value := range variables {
		c.Env = append(c.Env, "LLMBENCH_"+name+"="+value)
	}
	var text strings.Builder
	c.Stdout, c.Stderr = &text, &text
	if err := c.Start(); err != nil {
		return "", err
	}
	alive, end := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		end(errors.New("the client ended before its warm-up"))
	}()
	if l.Starved {
		if err := b.starve(alive, c.Process.Pid, url, l.Streams); err != nil {
			return "", fmt.Errorf("%w\n%s", errors.Join(err, c.Process.Kill(), <-ended), withoutUnits(text.String()))
		}
	}
	if err := <-ended; err != nil && !strings.Contains(text.String(), noFigures) {
		return "", fmt.Errorf("the client: %w\n%s", err, withoutUnits(text.String()))
	}
	return text.String(), nil
}

// starve moves the client to the cgroup while it waits for the answers of its warm-up, whose requests are not
// measured. At 2 % of a CPU, the start of the process alone would take half a minute.
func (b *bench) starve(ctx context.Context, client int, url string, streams int) error {
	running := regexp.MustCompile(fmt.Sprintf(`(?m)^vllm:num_requests_running(\{.*\})? %d$`, streams))
	for {
		resp, err := get(ctx, url+"/metrics")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
		if running.Match(text) {
			return os.WriteFile(filepath.Join(b.cgroup, "cgroup.procs"), []byte(strconv.Itoa(client)), 0)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// pinned returns a command that runs on the given core, or on any core if core is -1. The command ends when ctx
// ends, and when this process ends.
func pinned(ctx context.Context, core int, command ...string) *exec.Cmd {
	if core >= 0 {
		command = append([]string{"taskset", "-c", strconv.Itoa(core)}, command...)
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.WaitDelay = 10 * time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// newCgroup creates a cgroup whose processes get 2 % of a CPU, and returns its folder. It needs root and the
// "cpu" controller of cgroup version 1 or 2.
func newCgroup() (dir string, err error) {
	for _, at := range []struct{ parent, file, limit string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "2000"}, // 2 ms of each period of 100 ms
		{"/sys/fs/cgroup", "cpu.max", "2000 100000"},
	} {
		dir, e := os.MkdirTemp(at.parent, "llmbench-verdict-")
		if e == nil {
			if e = os.WriteFile(filepath.Join(dir, at.file), []byte(at.limit), 0); e == nil {
				return dir, nil
			}
			e = errors.Join(e, os.Remove(dir))
		}
		err = errors.Join(err, e)
	}
	return "", err
}
