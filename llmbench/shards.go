package llmbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// agreed are the variables that must be the same in all shards. Others may differ, such as folders,
// or are secret. What they do to requests must not differ: requests are compared, too.
var agreed = []string{
	"LLMBENCH_BACKEND", "LLMBENCH_NAME", "LLMBENCH_MODEL", "LLMBENCH_DIALECT", "LLMBENCH_MOCK", "LLMBENCH_MOCK_SPEED",
	"LLMBENCH_UNITS", "LLMBENCH_CLIENT_BOUND", "LLMBENCH_SALT", "LLMBENCH_FULL", "LLMBENCH_CONCURRENCY", "LLMBENCH_RATE", "LLMBENCH_STAGES",
	"LLMBENCH_BURSTINESS", "LLMBENCH_REQUESTS", "LLMBENCH_INPUT", "LLMBENCH_OUTPUT", "LLMBENCH_STREAM", "LLMBENCH_WARMUP", "LLMBENCH_TIMEOUT",
	"LLMBENCH_IDLE_TIMEOUT", "LLMBENCH_MAX_FAIL", "LLMBENCH_CANCEL", "LLMBENCH_SLO", "LLMBENCH_SEED",
}

// join joins the other shards, and sets the group of p. Without a rendezvous it does nothing. It
// writes to out who was refused.
func (p *shared) join(ctx context.Context, c rendezvous, out io.Writer) error {
	if c.Part.Alone() {
		return nil
	}
	program, err := hashOfBinary()
	if err != nil {
		return fmt.Errorf("LLMBENCH_SHARD: %w", err)
	}
	facts := []shard.Fact{{Name: "the test binary's SHA-256", Value: program}}
	for _, name := range agreed {
		facts = append(facts, shard.Fact{Name: name, Value: os.Getenv(name)})
	}
	for _, name := range []string{"test.benchtime", "test.count", "test.cpu"} {
		if f := flag.Lookup(name); f != nil {
			facts = append(facts, shard.Fact{Name: "-" + name, Value: f.Value.String()})
		}
	}
	machine, err := os.Hostname()
	g, err := shard.Join(ctx, shard.Options{
		Part: c.Part, Addr: c.addr, Token: c.token, Timeout: c.timeout,
		Name: cmp.Or(machine, fmt.Sprint(err)), Facts: facts, Hand: handed(randomSalt()),
		Log: func(text string) { fmt.Fprintln(out, "#", text) },
	})
	if err != nil {
		return err
	}
	salt, err := takeHanded(g.Hand)
	if err != nil {
		defer g.Close()
		return g.Fail(err)
	}
	randomSalt = func() uint64 { return salt }
	p.mu.Lock()
	p.group = g
	p.mu.Unlock()
	return nil
}

// handed is what shard 0 hands to all: the salt of prompts.
func handed(salt uint64) []byte { return binary.BigEndian.AppendUint64(nil, salt) }

func takeHanded(data []byte) (salt uint64, err error) {
	if len(data) != 8 {
		return 0, fmt.Errorf("shard 0 handed over %d bytes: want 8", len(data))
	}
	return binary.BigEndian.Uint64(data), nil
}

// hashOfBinary returns the SHA-256 of this program's file.
func hashOfBinary() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

// finish ends the run of all shards, and returns the exit code of all of them for that of this one.
func (p *shared) finish(code int) int {
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

// shards returns the number of processes that measure together, or 0 for one alone.
func (p *shared) shards() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == nil {
		return 0
	}
	return p.group.Count
}

// follows reports whether another process prints the results. The caller holds p.mu.
func (p *shared) follows() bool { return p.group != nil && p.group.Index > 0 }

// newCrew returns the crew of a benchmark, or nil for a process alone.
func (p *shared) newCrew(benchmark string) *crew {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == nil {
		return nil
	}
	return &crew{Group: p.group, benchmark: benchmark}
}
