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

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// errInterrupted is why passes end when the process was asked to.
var errInterrupted = errors.New("interrupted")

// process is what the benchmarks of this process share. Only [Main] lets it
// write, and only before a result line: what Run printed while the line of a
// result is under way would corrupt it.
var process = &shared{begun: map[string]bool{}, passes: map[string]int{}, units: map[string]bool{}}

type shared struct {
	mu        sync.Mutex
	hasMain   bool              // Main was called
	warned    bool              // that it was not
	out       io.Writer         // nil: Main was not called for benchmarks, and nothing is printed
	state     map[string]string // the configuration lines in force
	begun     map[string]bool   // benchmarks that had a sample
	passes    map[string]int
	units     map[string]bool // whose metadata is printed
	failed    bool
	interrupt context.Context
	last      string // the last throughput, for who watches
}

// lastFigure is the throughput of the benchmark before, or "".
func (p *shared) lastFigure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// setLast keeps a throughput.
func (p *shared) setLast(s sample.Summary) {
	v, known := s.Metrics["output-tok/s"]
	if !known {
		return
	}
	p.mu.Lock()
	p.last = fmt.Sprintf("%.4g tok/s", v)
	p.mu.Unlock()
}

// Main runs m's tests and benchmarks and returns the exit code for [os.Exit]:
//
//	func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
//
// When benchmarks are asked for, it checks the configuration, and prints the
// unit metadata that benchstat and benchgate read before any result, and the
// configuration of each target as it is measured. It returns 1 when a benchmark
// under [Run] or [Watch] failed in any -count sample, which the testing package
// forgets after the first. After an interrupt (Ctrl-C) or SIGTERM the pass under
// way is given up, its records are written, and the benchmarks left fail at once;
// a second one ends the process.
func Main(m *testing.M) int {
	flag.Parse()
	process.mu.Lock()
	process.hasMain = true
	process.mu.Unlock()
	if f := flag.Lookup("test.bench"); f == nil || f.Value.String() == "" {
		return m.Run()
	}
	cfg, err := readConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal has its usual effect
	process.begin(os.Stdout, ctx, cfg.allUnits)
	code := m.Run()
	process.end()
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
	for _, u := range Units() {
		if u.Core || all {
			p.printUnit(u)
		}
	}
}

// printUnit prints the metadata of u, once.
func (p *shared) printUnit(u sample.Unit) {
	if line := u.Line(); line != "" && !p.units[u.Name] {
		fmt.Fprintln(p.out, line)
		p.units[u.Name] = true
	}
}

// warnWithoutMain logs once that the results lack what Main prints, if Main was not called.
func (p *shared) warnWithoutMain(b *testing.B) {
	b.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasMain || p.warned {
		return
	}
	p.warned = true
	b.Log("TestMain does not call llmbench.Main: the results lack the metadata of units and the configuration of targets, and failures of later -count samples are forgotten")
}

// announceUnits prints the metadata of units before the first sample of a benchmark.
func (p *shared) announceUnits(benchmark string, units []sample.Unit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || p.begun[benchmark] {
		return
	}
	for _, u := range units {
		p.printUnit(u)
	}
}

// Announce prints the configuration lines of t before the results of b, as [Run]
// does. It is for benchmarks that measure something else of a server. It is an
// error if they differ from those of a sample before.
func Announce(b *testing.B, t Target) error { return process.announce(b.Name(), t.config()) }

// announce prints the configuration lines that change with config; a key that
// config lacks is unset. The first sample of a benchmark runs before its name is
// printed, so that the lines stand alone. In a later one they would end up within
// the line of its result, so that a config which changes then is an error.
func (p *shared) announce(benchmark string, config map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return nil
	}
	first := !p.begun[benchmark]
	p.begun[benchmark] = true
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(p.state)) {
		if _, kept := config[key]; !kept {
			lines = append(lines, key+":")
		}
	}
	state := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		state[key] = strings.Join(strings.Fields(config[key]), " ")
		if old, has := p.state[key]; !has || old != state[key] {
			lines = append(lines, key+": "+state[key])
		}
	}
	if !first && len(lines) > 0 {
		return fmt.Errorf("the target's configuration differs from that of the sample before: %s", strings.Join(lines, ", "))
	}
	for _, line := range lines {
		fmt.Fprintln(p.out, line)
	}
	p.state = state
	return nil
}

// Skip skips b as [testing.B.Skip] does, and says why in a comment among the
// results: of benchmarks the testing package says so with -v only.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.skip(b.Name(), reason)
	b.Skip(reason)
}

func (p *shared) skip(benchmark, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || p.begun[benchmark] {
		return
	}
	for line := range strings.Lines(benchmark + " is skipped: " + reason) {
		fmt.Fprintln(p.out, "#", strings.TrimSpace(line))
	}
}

// end unsets the configuration, so that it does not hold for what another process
// adds to the same file.
func (p *shared) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(p.state)) {
		fmt.Fprintln(p.out, key+":")
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

// Watch makes [Main] notice a failure of tb, which the testing package forgets
// when tb is a benchmark's second or later -count sample. [Run] calls it; a
// benchmark that may fail before that calls it first.
func Watch(tb testing.TB) {
	tb.Cleanup(func() {
		if tb.Failed() {
			process.mu.Lock()
			process.failed = true
			process.mu.Unlock()
		}
	})
}

func (p *shared) hasFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Context returns a context that ends with tb, and before that when the process
// was asked to end and [Main] took note. Its cause then says so.
func Context(tb testing.TB) context.Context {
	ctx, cancel := context.WithCancelCause(tb.Context())
	process.mu.Lock()
	interrupt := process.interrupt
	process.mu.Unlock()
	if interrupt != nil {
		stop := context.AfterFunc(interrupt, func() { cancel(errInterrupted) })
		tb.Cleanup(func() { stop() })
		if interrupt.Err() != nil {
			cancel(errInterrupted)
		}
	}
	tb.Cleanup(func() { cancel(nil) })
	return ctx
}
