package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A side is one of the two versions that are compared.
type side struct {
	name     string
	binaries []binary
}

// rounds runs the binaries of two sides in turn. A sample is one process a
// binary, fresh from its start; a round is a sample of each side, and which side
// goes first changes from round to round, so that a machine that slows down
// slows both. Each whole sample is a file in the folder, so that rounds which
// were interrupted can be gone on with.
type rounds struct {
	folder   string
	sides    [2]side
	run      []string      // flags of the binaries
	timeout  time.Duration // of one process
	progress io.Writer     // a line a round
}

// identity is what the samples in a folder were taken of.
type identity struct {
	Sides   map[string][]binary
	Run     []string
	Environ []string // LLMBENCH_ variables; of secrets only that they are there
}

func (r *rounds) identity() identity {
	id := identity{Sides: map[string][]binary{}, Run: r.run}
	for _, s := range r.sides {
		id.Sides[s.name] = s.binaries
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name == "LLMBENCH_API_KEY" {
			id.Environ = append(id.Environ, name)
		} else if strings.HasPrefix(name, "LLMBENCH_") {
			id.Environ = append(id.Environ, v)
		}
	}
	slices.Sort(id.Environ)
	return id
}

// differs says in what two identities differ, or "".
func (id identity) differs(now identity) string {
	var all []string
	for name := range now.Sides {
		if !slices.EqualFunc(id.Sides[name], now.Sides[name], binary.same) {
			all = append(all, name+" is not what it was")
		}
	}
	slices.Sort(all)
	for _, list := range []struct {
		name     string
		was, are []string
	}{{"flags", id.Run, now.Run}, {"variables", id.Environ, now.Environ}} {
		if !slices.Equal(list.was, list.are) {
			all = append(all, fmt.Sprintf("%s were %q and are %q", list.name, list.was, list.are))
		}
	}
	return strings.Join(all, "; ")
}

// claim makes the folder one of these rounds, or says what other rounds its
// samples are of.
func (r *rounds) claim() error {
	path := filepath.Join(r.folder, "benchgate.json")
	now := r.identity()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = json.MarshalIndent(now, "", "\t"); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		return err
	}
	var before identity
	if err := json.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if why := before.differs(now); why != "" {
		return fmt.Errorf("-out=%s: the samples there are of another comparison: %s; use another folder or delete it", r.folder, why)
	}
	return nil
}

func (r *rounds) file(s side, round int) string {
	return filepath.Join(r.folder, s.name, fmt.Sprintf("%03d.txt", round))
}

// text returns the samples of a side up to a round, as one benchmark file.
func (r *rounds) text(s side, last int) ([]byte, error) {
	var all []byte
	for round := 1; round <= last; round++ {
		sample, err := os.ReadFile(r.file(s, round))
		if err != nil {
			return nil, err
		}
		all = append(all, sample...)
	}
	return all, nil
}

// do runs round after round, n of them at most, and calls after each; it ends
// when that says so.
func (r *rounds) do(ctx context.Context, n int, after func(round int) (enough bool, err error)) error {
	if err := r.claim(); err != nil {
		return err
	}
	var spent time.Duration
	ran := 0
	for round := 1; round <= n; round++ {
		order := []side{r.sides[0], r.sides[1]}
		if round%2 == 0 {
			slices.Reverse(order)
		}
		began := time.Now()
		var told []string
		for _, s := range order {
			took, err := r.sample(ctx, s, round)
			if err != nil {
				return fmt.Errorf("round %d: %s: %w", round, s.name, err)
			}
			if took > 0 {
				told = append(told, fmt.Sprintf("%s %.1fs", s.name, took.Seconds()))
			} else {
				told = append(told, s.name+" kept")
			}
		}
		if passed := time.Since(began); passed > 100*time.Millisecond { // else it was there
			spent += passed
			ran++
		}
		left := ""
		if ran > 0 && round < n {
			left = fmt.Sprintf("; at most %v left", (spent / time.Duration(ran) * time.Duration(n-round)).Round(time.Second))
		}
		fmt.Fprintf(r.progress, "round %d of %d: %s%s\n", round, n, strings.Join(told, ", "), left)
		if enough, err := after(round); enough || err != nil {
			return err
		}
	}
	return nil
}

// sample takes one sample of s, unless the folder has it, and returns how long
// that took.
func (r *rounds) sample(ctx context.Context, s side, round int) (time.Duration, error) {
	path := r.file(s, round)
	if _, err := os.Stat(path); err == nil {
		return 0, nil
	}
	began := time.Now()
	var all []byte
	for _, b := range s.binaries {
		text, err := r.process(ctx, b)
		if err != nil {
			return 0, err
		}
		all = append(all, text...)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return 0, err
	}
	// By its name a sample is whole.
	if err := os.WriteFile(path+".part", all, 0o666); err != nil {
		return 0, err
	}
	return time.Since(began), os.Rename(path+".part", path)
}

// process runs a binary once and returns what it prints to stdout.
func (r *rounds) process(ctx context.Context, b binary) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("it took longer than -timeout, %v", r.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, r.run...)
	cmd.Dir = b.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	endTogether(cmd)
	cmd.WaitDelay = 30 * time.Second // for a benchmark that cleans up
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", b.Package, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w\n%s", b.Package, err, tail(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return stdout.Bytes(), nil
}

// tail returns the last lines of what a process printed.
func tail(text []byte) []byte {
	const most = 40
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], nil)
}
