package llmbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

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

// agreedFiles are the variables with the path of a file that must have the same content in all shards.
var agreedFiles = []string{"LLMBENCH_TOKENIZER"}

// join joins the other shards, and sets the group of p. Without a rendezvous it does nothing. It
// writes to out who was refused.
func (p *shared) join(ctx context.Context, c shard.Config, out io.Writer) error {
	if c.Part.Alone() {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("LLMBENCH_SHARD: %w", err)
	}
	facts := []shard.Fact{{Name: "the test binary's SHA-256", Value: hashOfFile(program)}}
	for _, name := range agreed {
		facts = append(facts, shard.Fact{Name: name, Value: os.Getenv(name)})
	}
	for _, name := range agreedFiles {
		facts = append(facts, shard.Fact{Name: "the SHA-256 of the file " + name, Value: hashOfFile(os.Getenv(name))})
	}
	for _, name := range []string{"test.benchtime", "test.count", "test.cpu"} {
		if f := flag.Lookup(name); f != nil {
			facts = append(facts, shard.Fact{Name: "-" + name, Value: f.Value.String()})
		}
	}
	machine, err := os.Hostname()
	g, err := shard.Join(ctx, shard.Options{
		Part: c.Part, Addr: c.Addr, Token: c.Token, Timeout: c.Timeout,
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

// hashOfFile returns the first bytes of the SHA-256 of a file, or why the file cannot be read. It
// returns "" for "".
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

// Shard returns the number of this process, from 0, among those that measure together, and how many
// these are. For a process that measures alone it returns 0 and 1.
func Shard() (index, count int) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.group == nil {
		return 0, 1
	}
	return process.group.Index, process.group.Count
}

// CheckOneMachine returns an error if another process of a measurement is on another machine than
// shard 0, or in another network namespace, so that it may not reach what only this machine can reach.
// The error names these processes. Only shard 0 knows: elsewhere CheckOneMachine returns nil.
func CheckOneMachine() error {
	process.mu.Lock()
	g := process.group
	process.mu.Unlock()
	if g == nil || g.Index > 0 {
		return nil
	}
	if names := g.Elsewhere(); len(names) > 0 {
		return fmt.Errorf("not on the machine of shard 0, or not in its network: %s", strings.Join(names, ", "))
	}
	return nil
}

// Lead calls f and returns what f returns. If several processes measure together, shard 0 alone calls
// f, and all of them return what f returned there, as package encoding/json keeps it; of an error they
// return the text. All processes must call Lead at the same place, from the goroutine of the benchmark.
// The name says what f does, for the error of a process that is elsewhere. The error wraps that
// of the group if another process is lost.
//
// Lead is for what decides which requests are sent next, and may differ between processes: what a
// server answers to a question, or what a clock says.
func Lead[T any](name string, f func() (T, error)) (value T, err error) {
	c := process.newCrew(name)
	if c == nil {
		return f()
	}
	c.step = "what shard 0 finds out"
	if !c.leads() {
		data, err := c.Share(c.name(""), nil)
		if err == nil {
			var told finding[T]
			if err = json.Unmarshal(data, &told); err == nil && told.Error != "" {
				err = common{errors.New(told.Error)}
			}
			value = told.Value
		}
		return value, err
	}
	returned := false
	defer func() {
		if !returned {
			c.fail(fmt.Errorf("%s: it has ended its goroutine, as Fatal of package testing does", name))
		}
	}()
	value, err = f()
	returned = true
	told := finding[T]{Value: value}
	if err != nil {
		told.Error = err.Error()
	}
	data, failed := json.Marshal(told)
	if failed != nil {
		return value, c.fail(failed)
	}
	if _, lost := c.Share(c.name(""), data); lost != nil {
		return value, lost
	}
	return value, err
}

// A finding is what shard 0 tells the others of a call.
type finding[T any] struct {
	Value T
	Error string // "": none
}

// Loop returns the b.Loop of a benchmark that makes its passes with [Pass]. If several processes
// measure together, shard 0 decides whether there is another op.
func Loop(b *testing.B) (more func() bool) {
	c := process.newCrew(b.Name())
	return func() bool {
		b.Helper()
		another, err := c.more(b)
		if err != nil {
			b.Fatal(err)
		}
		return another
	}
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
