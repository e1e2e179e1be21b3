package process

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// randomSalt returns the salt of this process, or of all shards.
var randomSalt = sync.OnceValue(func() uint64 { return 1 + uint64(rand.Uint32()) })

// RandomSalt returns a random number above 0. The number is the same in all processes that measure
// together, and does not change.
func RandomSalt() uint64 { return randomSalt() }

// agreed lists the variables that must be the same in all shards. Other variables may differ, such as
// folders, or are secret. If such a difference changes requests, it is still noticed, because the shards
// also compare their requests.
var agreed = []string{
	"LLMBENCH_BACKEND", "LLMBENCH_NAME", "LLMBENCH_MODEL", "LLMBENCH_DIALECT", "LLMBENCH_MOCK",
	"LLMBENCH_UNITS", "LLMBENCH_CLIENT_BOUND", "LLMBENCH_SALT", "LLMBENCH_FULL", "LLMBENCH_CONCURRENCY", "LLMBENCH_RATE",
	"LLMBENCH_REQUESTS", "LLMBENCH_DURATION", "LLMBENCH_INPUT", "LLMBENCH_OUTPUT", "LLMBENCH_STREAM", "LLMBENCH_WARMUP", "LLMBENCH_TIMEOUT",
	"LLMBENCH_IDLE_TIMEOUT", "LLMBENCH_MAX_FAIL", "LLMBENCH_MAX_SHED", "LLMBENCH_MAX_IN_FLIGHT", "LLMBENCH_CANCEL", "LLMBENCH_SLO", "LLMBENCH_SEED",
}

// agreedFiles lists the variables that are the path of a file whose content must be the same in all shards.
var agreedFiles = []string{"LLMBENCH_TOKENIZER"}

// join joins the other shards, and sets the group of p. If c has no rendezvous, it does nothing. It writes
// to log which processes were refused.
func (p *process) join(ctx context.Context, c shard.Config, log io.Writer) error {
	if c.Part.Alone() {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("LLMBENCH_SHARD: %w", err)
	}
	facts := []shard.Fact{{Name: "the test binary's SHA-256", Value: hashOfFile(program)}}
	r := env.NewReader(os.Environ())
	for _, name := range agreed {
		facts = append(facts, shard.Fact{Name: name, Value: r.Value(name)})
	}
	for _, name := range agreedFiles {
		facts = append(facts, shard.Fact{Name: "the SHA-256 of the file " + name, Value: hashOfFile(r.Value(name))})
	}
	for _, name := range []string{"test.benchtime", "test.count", "test.cpu"} {
		if f := flag.Lookup(name); f != nil {
			facts = append(facts, shard.Fact{Name: "-" + name, Value: f.Value.String()})
		}
	}
	machine, err := os.Hostname()
	g, err := shard.Join(ctx, shard.Options{
		Part: c.Part, Addr: c.Addr, Token: c.Token, Timeout: c.Timeout,
		Name: cmp.Or(machine, fmt.Sprint(err)), Facts: facts, Hand: strconv.AppendUint(nil, RandomSalt(), 10), // the salt of prompts
		Log: func(text string) { fmt.Fprintln(log, "#", text) },
	})
	if err != nil {
		return err
	}
	salt, err := strconv.ParseUint(string(g.Hand), 10, 64)
	if err != nil {
		defer g.Close()
		return g.Fail(fmt.Errorf("the salt of shard 0: %w", err))
	}
	randomSalt = func() uint64 { return salt }
	p.mu.Lock()
	p.group = g
	p.mu.Unlock()
	return nil
}

// hashOfFile returns the first bytes of a file's SHA-256. If the file cannot be read, it returns the text
// of the error instead. For the path "" it returns "".
func hashOfFile(path string) string {
	if path == "" {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// Group returns the group of processes that measure together, or nil if this process measures alone.
func Group() *shard.Group {
	current.mu.Lock()
	defer current.mu.Unlock()
	return current.group
}

// Join returns the party for the measurement of a benchmark.
func Join(benchmark string) Party {
	if g := Group(); g != nil {
		return &shards{group: g, benchmark: benchmark}
	}
	return alone{}
}

// follows reports whether another process prints the results. The caller must hold p.mu.
func (p *process) follows() bool { return p.group != nil && p.group.Index > 0 }

// finish ends the run of all shards. The argument is the exit code of this process. The result is the exit
// code of all processes.
func (p *process) finish(code int) int {
	if p.group == nil {
		return code
	}
	defer p.group.Close()
	status, err := p.group.Finish(byte(min(max(code, 0), math.MaxUint8)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return int(status)
}
