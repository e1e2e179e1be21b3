package measure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
	"golang.org/x/perf/benchfmt"
)

// A side is one of the two versions or servers that are compared.
type side struct {
	name     string
	version  string // description of the side, for messages
	source   string // hash of the source files, or their commit
	server   string // the measured server, if the sides differ in it; may contain secrets
	binaries []binary
	env      []string // additional environment variables of the processes
}

// rounds runs the binaries of two sides in turn. For one sample of a side, each of its binaries runs once in a
// fresh process. A round takes one sample of each side. The order of the two in each round is random, so that
// nothing that the machine does periodically can favor a side. Each complete sample is a file in the folder, so
// that an interrupted command can be continued.
type rounds struct {
	folder   folder
	sides    [2]side
	seed     uint64          // of the random order
	run      []string        // flags of the binaries
	timeout  time.Duration   // maximum time of one process
	progress io.Writer       // where a line per round is printed
	hard     context.Context // when this context ends, the processes are killed
	team     *team           // the commands of the other shards; nil if there is only one shard
}

// identity returns a description of everything that the samples depend on.
func (r *rounds) identity() (identity, error) {
	fingerprint, err := r.folder.fingerprint()
	if err != nil {
		return nil, err
	}
	id := r.built()
	id[seedName] = fmt.Sprint(r.seed)
	for _, s := range r.sides {
		id["sources of "+s.name] = s.source
		if s.server != "" {
			id["server of "+s.name] = fingerprint(s.server)
		}
	}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "LLMBENCH_") {
			id[name] = fingerprint(value)
		}
	}
	return id, nil
}

// built returns a description of the processes: their flags and binaries.
func (r *rounds) built() identity {
	id := identity{"flags": fmt.Sprintf("%q", r.run)}
	for _, s := range r.sides {
		for _, b := range s.binaries {
			id["binary of "+s.name+" "+b.pkg] = b.sha256
		}
	}
	return id
}

// secondFirst reports, for each of the first n rounds, whether the second side runs first.
func (r *rounds) secondFirst(n int) []bool {
	random := rand.New(rand.NewPCG(r.seed, 0))
	order := make([]bool, n)
	for i := range order {
		order[i] = random.IntN(2) == 1
	}
	return order
}

// file returns the path of the side's sample of a round.
func (r *rounds) file(s side, round int) string {
	return r.folder.join(s.name, fmt.Sprintf("%03d.txt", round))
}

// text returns the side's samples of rounds 1 to last, as one benchmark file.
func (r *rounds) text(s side, last int) ([]byte, error) {
	var all []byte
	secondFirst, isSecond := r.secondFirst(last), s.name == r.sides[1].name
	for round := 1; round <= last; round++ {
		sample, err := os.ReadFile(r.file(s, round))
		if err != nil {
			return nil, err
		}
		if len(sample) > 0 { // a base may have no benchmarks
			all = append(all, gate.RoundLine(round, secondFirst[round-1] == isSecond)...)
			all = append(all, sample...)
		}
	}
	return all, nil
}

// do runs at most n rounds. After each round it calls after, and stops if after returns true or an error.
func (r *rounds) do(ctx context.Context, n int, after func(round int) (enough bool, err error)) error {
	var spent time.Duration
	ran := 0
	bar := newBar(r.progress, 2*n, isTerminal(r.progress))
	defer bar.Clear()
	last := ""
	secondFirst := r.secondFirst(n)
	for round := 1; round <= n; round++ {
		began := time.Now()
		var results []string
		fresh := false
		err := r.pair(ctx, round, secondFirst[round-1], func(s side) {
			bar.describe(fmt.Sprintf("round %d: %s", round, s.name), last)
		}, func(s side, took time.Duration, kept bool) {
			bar.Add(1)
			if kept {
				results = append(results, s.name+" kept")
				return
			}
			fresh = true
			results = append(results, fmt.Sprintf("%s %.1fs", s.name, took.Seconds()))
		})
		if err != nil {
			return err
		}
		if fresh {
			spent += time.Since(began)
			ran++
		}
		left := ""
		if ran > 0 && round < n {
			left = fmt.Sprintf("; at most %v left", (spent / time.Duration(ran) * time.Duration(n-round)).Round(time.Second))
		}
		last = strings.Join(results, ", ")
		bar.line(r.progress, "round %d of %d: %s%s\n", round, n, last, left)
		if enough, err := after(round); enough || err != nil {
			return err
		}
	}
	return nil
}

// pair takes the two samples of a round. It calls before ahead of each sample; and after with how long the sample
// took, or that the folder had it already.
func (r *rounds) pair(ctx context.Context, round int, secondFirst bool, before func(side), after func(s side, took time.Duration, kept bool)) error {
	order := []side{r.sides[0], r.sides[1]}
	if secondFirst {
		slices.Reverse(order)
	}
	if err := r.keepOrder(order, round); err != nil {
		return err
	}
	for _, s := range order {
		before(s)
		took, kept, err := r.sample(ctx, s, round)
		if err != nil {
			return fmt.Errorf("round %d: %s: %w", round, cmp.Or(s.version, s.name), err)
		}
		after(s, took, kept)
	}
	return nil
}

// keepOrder removes a round's second sample if the first is missing, for example because somebody deleted its
// file. Otherwise the new first sample would be taken after the second.
func (r *rounds) keepOrder(order []side, round int) error {
	_, err := os.Stat(r.file(order[0], round))
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(r.file(order[1], round))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sample takes one sample of s and returns how long that took. If the folder already has the sample, kept is
// true.
func (r *rounds) sample(ctx context.Context, s side, round int) (took time.Duration, kept bool, err error) {
	path := r.file(s, round)
	if _, err := os.Stat(path); err == nil {
		return 0, true, nil
	}
	began := time.Now()
	var all []byte
	for _, b := range s.binaries {
		if err := r.team.order(order{Side: s.name, Package: b.pkg}); err != nil {
			return 0, false, err
		}
		text, err := r.process(ctx, s, b)
		if err := r.team.ran(err); err != nil {
			return 0, false, err
		}
		all = append(all, text...)
		all = append(all, endConfiguration(text)...)
	}
	return time.Since(began), false, command.WriteFile(path, all)
}

// endConfiguration returns configuration lines without values. Appended to the output of a process, they reset
// its configuration, so that the output of the next process begins with none. goos, goarch, pkg and cpu are not
// reset, because the testing package sets them in each process.
func endConfiguration(text []byte) []byte {
	const result = "\nBenchmarkEnd 1 1 ns/op\n" // a last result, which carries the configuration at the end
	var keys []byte
	for rec := range benchline.Records[*benchfmt.Result](slices.Concat(text, []byte(result))) {
		keys = keys[:0]
		for _, c := range rec.Config {
			if !slices.Contains([]string{"goos", "goarch", "pkg", "cpu"}, c.Key) {
				keys = fmt.Appendf(keys, "%s:\n", c.Key)
			}
		}
	}
	return keys
}

// process runs a binary of a side once and returns its standard output.
func (r *rounds) process(ctx context.Context, s side, b binary) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("the process took longer than -timeout, %v", r.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, r.run...)
	cmd.Dir = b.dir
	// If the client disturbs a benchmark too much, the benchmark may have no valid result. That must not end
	// the comparison. The sample then lacks the benchmark's gated units, and package gate decides what that
	// means.
	cmd.Env = append(append([]string{"LLMBENCH_CLIENT_BOUND=withhold"}, os.Environ()...), env.Comparison+"=1")
	if records := os.Getenv("LLMBENCH_OUT"); records != "" { // absolute, because a relative path could lead into the base's folder, which is removed
		records, err := filepath.Abs(records)
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "LLMBENCH_OUT="+records)
	}
	cmd.Env = append(cmd.Env, s.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := proc.RunGroup(r.hard, cmd, 30*time.Second)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", b.pkg, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w\n%s", b.pkg, err, append(proc.Tail(stdout.Bytes()), proc.Tail(stderr.Bytes())...))
	}
	return stdout.Bytes(), nil
}
