package llmbench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// errInterrupted is why passes end when the process was asked to.
var errInterrupted = errors.New("interrupted")

// process is what the benchmarks of this process share. Only [Main] lets it
// write, and only before a result line: what Run printed while the line of a
// result is under way would corrupt it.
var process = &shared{state: map[string]string{}, passes: map[string]int{}}

type shared struct {
	mu        sync.Mutex
	out       io.Writer // nil: nobody called Main, nothing is printed
	state     map[string]string
	passes    map[string]int
	failed    bool
	interrupt context.Context
}

// Main runs m's tests and benchmarks and returns the exit code for [os.Exit]:
//
//	func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
//
// When benchmarks are asked for, it checks the configuration, and prints the
// unit metadata that benchstat and benchgate read before any result, and the
// configuration of each target as it is measured. It returns 1 when a benchmark
// failed in any -count sample, which the testing package forgets after the
// first. After an interrupt (Ctrl-C) or SIGTERM the pass under way is given up,
// its records are written, and the benchmarks left fail at once; a second one
// ends the process.
func Main(m *testing.M) int {
	flag.Parse()
	if f := flag.Lookup("test.bench"); f == nil || f.Value.String() == "" {
		return m.Run()
	}
	cfg, err := ReadConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal has its usual effect
	process.begin(os.Stdout, ctx, cfg.AllUnits)
	code := m.Run()
	if code == 0 && process.hasFailed() {
		code = 1
	}
	return code
}

// begin lets p write to out, and prints the metadata of the units that will be
// reported.
func (p *shared) begin(out io.Writer, interrupt context.Context, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out, p.interrupt = out, interrupt
	for _, u := range Units {
		if line := u.Line(); line != "" && (u.Core || all) {
			fmt.Fprintln(out, line)
		}
	}
}

// announce prints the configuration lines that change with config; a key that
// config lacks is unset. The first sample of a benchmark runs before its name is
// printed, so that the lines stand alone; later samples change nothing.
func (p *shared) announce(config map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(p.state)) {
		if _, kept := config[key]; !kept {
			fmt.Fprintf(p.out, "%s:\n", key)
			delete(p.state, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		value := strings.Join(strings.Fields(config[key]), " ")
		if p.state[key] != value {
			fmt.Fprintf(p.out, "%s: %s\n", key, value)
			p.state[key] = value
		}
	}
}

// nextPass counts the passes of a benchmark over all its samples, from 0.
func (p *shared) nextPass(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.passes[name]
	p.passes[name]++
	return n
}

// noteFailure keeps b's failure for Main. It belongs into a Cleanup of b.
func noteFailure(b *testing.B) {
	if b.Failed() {
		process.mu.Lock()
		process.failed = true
		process.mu.Unlock()
	}
}

func (p *shared) hasFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// interruptible returns a context that also ends when the process is asked to.
func interruptible(ctx context.Context) (context.Context, func()) {
	process.mu.Lock()
	interrupt := process.interrupt
	process.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	if interrupt == nil {
		return ctx, func() { cancel(nil) }
	}
	if interrupt.Err() != nil {
		cancel(errInterrupted)
	}
	stop := context.AfterFunc(interrupt, func() { cancel(errInterrupted) })
	return ctx, func() { stop(); cancel(nil) }
}
