package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
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
	source   string // tells its sources apart
	binaries []binary
}

// rounds runs the binaries of two sides in turn. A sample is one process a
// binary, fresh from its start; a round is a sample of each side, and which side
// goes first changes from round to round, so that a machine that slows down
// slows both. Each whole sample is a file in the folder, so that rounds which
// were interrupted can be gone on with.
type rounds struct {
	folder   folder
	sides    [2]side
	run      []string      // flags of the binaries
	timeout  time.Duration // of one process
	progress io.Writer     // a line a round
	hard     context.Context
}

// identity tells the samples apart from those of other rounds.
func (r *rounds) identity() identity {
	id := identity{"flags": fmt.Sprintf("%q", r.run)}
	for _, s := range r.sides {
		id["sources of "+s.name] = s.source
		for _, b := range s.binaries {
			id["binary of "+s.name+" "+b.pkg] = b.sha256
		}
	}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "LLMBENCH_") {
			id[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(value)))
		}
	}
	return id
}

func sorted(all []string) []string { slices.Sort(all); return all }

// union has the names of both.
func union(a, b identity) identity {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func (r *rounds) file(s side, round int) string {
	return r.folder.join(s.name, fmt.Sprintf("%03d.txt", round))
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
	var spent time.Duration
	ran := 0
	bar := newBar(r.progress, 2*n)
	defer bar.clear()
	last := ""
	for round := 1; round <= n; round++ {
		order := []side{r.sides[0], r.sides[1]}
		if round%2 == 0 {
			slices.Reverse(order)
		}
		began := time.Now()
		var told []string
		fresh := false
		for _, s := range order {
			bar.runs(fmt.Sprintf("round %d: %s", round, s.name), last)
			took, kept, err := r.sample(ctx, s, round)
			bar.ran()
			switch {
			case err != nil:
				return fmt.Errorf("round %d: %s: %w", round, s.name, err)
			case kept:
				told = append(told, s.name+" kept")
			default:
				fresh = true
				told = append(told, fmt.Sprintf("%s %.1fs", s.name, took.Seconds()))
			}
		}
		if fresh {
			spent += time.Since(began)
			ran++
		}
		left := ""
		if ran > 0 && round < n {
			left = fmt.Sprintf("; at most %v left", (spent / time.Duration(ran) * time.Duration(n-round)).Round(time.Second))
		}
		last = strings.Join(told, ", ")
		bar.line(r.progress, "round %d of %d: %s%s\n", round, n, last, left)
		if enough, err := after(round); enough || err != nil {
			return err
		}
	}
	return nil
}

// sample takes one sample of s, unless the folder has it, and returns how long
// that took.
func (r *rounds) sample(ctx context.Context, s side, round int) (took time.Duration, kept bool, err error) {
	path := r.file(s, round)
	if _, err := os.Stat(path); err == nil {
		return 0, true, nil
	}
	began := time.Now()
	var all []byte
	for _, b := range s.binaries {
		text, err := r.process(ctx, b)
		if err != nil {
			return 0, false, err
		}
		all = append(all, text...)
	}
	return time.Since(began), false, writeWhole(path, all)
}

// process runs a binary once and returns what it prints to stdout.
func (r *rounds) process(ctx context.Context, b binary) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("it took longer than -timeout, %v", r.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, r.run...)
	cmd.Dir = b.dir
	cmd.Env = os.Environ()
	if records := os.Getenv("LLMBENCH_OUT"); records != "" { // the base's folder is removed
		records, err := filepath.Abs(records)
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "LLMBENCH_OUT="+records)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := runGroup(r.hard, cmd, 30*time.Second)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", b.pkg, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w\n%s", b.pkg, err, tail(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return stdout.Bytes(), nil
}
