//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// jobTime is the time limit of a job.
const jobTime = 3 * time.Minute

// A load is a measurement, with its environment variables.
type load struct {
	name string
	sent int // the number of requests, including the warm-up
	set  map[string]string
}

// loads are the loads that one process measures, and that all shards then measure together. The
// salt is fixed, so that the prompts are equal.
var loads = []load{
	{"closed loop", 256 + 8, map[string]string{"LLMBENCH_CONCURRENCY": "16", "LLMBENCH_REQUESTS": "256"}},
	{"open loop", 200 + 8, map[string]string{"LLMBENCH_RATE": "100", "LLMBENCH_REQUESTS": "200"}},
}

// common are the variables of all loads. A distortion by the client does not make a measurement
// fail, because the machine may be busy.
var common = map[string]string{
	"LLMBENCH_URL": mockURL, "LLMBENCH_INPUT": "16", "LLMBENCH_OUTPUT": fmt.Sprint(output), "LLMBENCH_WARMUP": "8",
	"LLMBENCH_SALT": "7", "LLMBENCH_CLIENT_BOUND": "report",
}

// long is a load that takes minutes, so that a shard can be killed in the middle of it.
var long = load{"long", 20000 + 8, map[string]string{"LLMBENCH_CONCURRENCY": "16", "LLMBENCH_REQUESTS": "20000"}}

// variables returns the variables of a load.
func (l load) variables() map[string]string {
	all := maps.Clone(common)
	maps.Copy(all, l.set)
	return all
}

// arguments are the arguments of the scenarios.
var arguments = []string{"-test.bench=Serve", "-test.benchtime=1x", "-test.v"}

// check makes all checks on a platform.
func check(ctx context.Context, l *lab, p platform) error {
	for _, load := range loads {
		if err := together(ctx, l, p, load); err != nil {
			return fmt.Errorf("%s: %w", load.name, err)
		}
	}
	for _, w := range p.ways() {
		if err := killed(ctx, l, p, w); err != nil {
			return fmt.Errorf("after a %s was killed: %w", w.name, err)
		}
	}
	return nil
}

// together checks that all shards together send what one process sends, and that they give one
// result.
func together(ctx context.Context, l *lab, p platform, load load) error {
	one := filepath.Join(l.dir, "records", load.name, "alone")
	text, err := l.alone(ctx, load, one)
	if err != nil {
		return err
	}
	want, err := l.mock.take()
	if err != nil {
		return err
	}
	if len(want) != load.sent {
		return fmt.Errorf("one process sent %d requests: want %d", len(want), load.sent)
	}
	wantRun, err := read(one)
	if err != nil {
		return err
	}
	all := filepath.Join(l.dir, "records", load.name, "shards")
	began := time.Now()
	j, err := submit(ctx, p, load, all)
	if err != nil {
		return err
	}
	end, err := j.wait(ctx)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if end.failed {
		return fmt.Errorf("the job failed: %s\n%s", end.status, end.log)
	}
	if err := oneResult(results(text), results(end.log)); err != nil {
		return fmt.Errorf("%w\n%s", err, end.log)
	}
	got, err := l.mock.take()
	if err != nil {
		return err
	}
	if err := sameRequests(want, got); err != nil {
		return err
	}
	fetched, err := j.records(ctx)
	if err != nil {
		return err
	}
	run, err := read(fetched)
	if err != nil {
		return err
	}
	if err := sameRecords(wantRun, run); err != nil {
		return err
	}
	fmt.Printf("%s: %d shards sent the %d requests of one process, and gave one result, after %.1f s: %s\n  %s\n",
		load.name, shards, len(got), took.Seconds(), end.status, results(end.log)[0])
	return nil
}

// killed kills a shard in the middle of a measurement. It checks what the log and the records then
// say.
func killed(ctx context.Context, l *lab, p platform, w way) error {
	out := filepath.Join(l.dir, "records", w.name)
	j, err := submit(ctx, p, long, out)
	if err != nil {
		return err
	}
	if err := until(ctx, jobTime, func() error { return begun(out) }); err != nil {
		return err
	}
	began := time.Now()
	names, err := w.kill(ctx, j)
	if err != nil {
		return err
	}
	end, err := j.wait(ctx)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if !end.failed {
		return fmt.Errorf("the job ended well: %s\n%s", end.status, end.log)
	}
	fetched, err := j.records(ctx)
	if err != nil {
		return err
	}
	run, err := read(fetched)
	if err != nil {
		return err
	}
	if err := cannotJudge(run, end.log, names); err != nil {
		return fmt.Errorf("%w\n%s", err, end.log)
	}
	if _, err := l.mock.take(); err != nil {
		return err
	}
	fmt.Printf("a %s is killed: the job ended %.1f s later: %s; %d records are kept\n  %s\n", w.name, took.Seconds(), end.status, run.Len(), run.Failed())
	return nil
}

// submit submits a job for a load.
func submit(ctx context.Context, p platform, load load, out string) (job, error) {
	if err := folder(out); err != nil {
		return nil, err
	}
	return p.submit(ctx, load.variables(), out)
}

// folder makes a folder to which every user may write. A container has other users than this
// machine.
func folder(path string) error {
	return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, 0o777))
}

// alone measures a load with one process, and returns its output.
func (l *lab) alone(ctx context.Context, load load, out string) (string, error) {
	if err := folder(out); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	variables := load.variables()
	variables["LLMBENCH_OUT"] = out
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(l.dir, "scenarios.test"), append([]string{"-test.run=^$"}, arguments...)...)
	cmd.Dir, cmd.Env = l.dir, environment(variables)
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("one process: %w\n%s", err, &text)
	}
	return text.String(), nil
}

// environment returns the variables that a command inherits, followed by the given ones.
func environment(variables map[string]string) []string {
	all := []string{"PATH=" + os.Getenv("PATH"), "HOME=/root", "LC_ALL=C"}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		all = append(all, name+"="+variables[name])
	}
	return all
}

// begun returns nil if the records in a folder contain ten requests of each shard. Otherwise it
// returns an error.
func begun(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("%d files of records in %s: want one", len(files), dir)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	for shard := range shards {
		if n := len(regexp.MustCompile(fmt.Sprintf(`"shard":%d\b`, shard)).FindAll(text, 10)); n < 10 {
			return fmt.Errorf("%d requests of shard %d so far", n, shard)
		}
	}
	return nil
}
