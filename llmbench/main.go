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

// errInterrupted is the cause of a context that ends because of a signal.
var errInterrupted = errors.New("interrupted")

// process is the state that the benchmarks of this process share.
var process = &shared{begun: map[string]bool{}, passes: map[string]int{}, units: map[string]bool{}}

// A shared is the state of a process. It prints only if [Main] was called, and only between the
// lines of results: the testing package prints such a line in parts.
type shared struct {
	mu        sync.Mutex
	hasMain   bool              // Main was called
	warned    bool              // the lack of Main was logged
	out       io.Writer         // nil: Main was not called for benchmarks, and nothing is printed
	state     map[string]string // the configuration lines in force
	begun     map[string]bool   // benchmarks that had a -count sample
	passes    map[string]int    // number of passes of each benchmark
	units     map[string]bool   // units whose metadata is printed
	failed    bool              // a watched benchmark failed
	interrupt context.Context   // ends with the first signal; nil: signals are not caught
	last      string            // the last throughput, for the progress line
	salt      uint64            // the salt that was printed last
}

// lastFigure returns the throughput of the previous benchmark, or "".
func (p *shared) lastFigure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// setLast keeps the throughput of a benchmark.
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
// With -bench, Main checks the configuration. It prints the metadata of units, which benchstat
// and benchgate must read before the first result, and the configuration of each target before
// its results. It returns 1 if a benchmark under [Run] or [Watch] failed in any -count sample;
// the testing package itself only notices a failure in the first.
//
// After an interrupt (Ctrl-C) or SIGTERM the current pass is given up, its records are written,
// and the remaining benchmarks fail at once. A second signal ends the process.
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

// begin lets p print to out, and prints the metadata of the units that all benchmarks report.
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

// printUnit prints the metadata of u, unless it is printed already.
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

// Announce prints the configuration lines of t before the results of b. [Run] calls it;
// benchmarks that measure a server in another way call it themselves. It returns an error if
// the configuration differs from that of an earlier -count sample of b.
func Announce(b *testing.B, t Target) error {
	b.Helper()
	process.announceSalt(b)
	return process.announce(b.Name(), t.config())
}

// announceSalt prints the salt once, as a comment, if prompts have one.
func (p *shared) announceSalt(b *testing.B) {
	b.Helper()
	salt := usedSalt.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if salt == p.salt || p.out != nil && p.begun[b.Name()] {
		return
	}
	p.salt = salt
	text := fmt.Sprintf("LLMBENCH_SALT=%d repeats the prompts of this process", salt)
	if p.out == nil {
		b.Log(text)
		return
	}
	fmt.Fprintln(p.out, "#", text)
}

// announce prints the configuration lines that change with config, and unsets the keys that
// config lacks. The testing package prints the name of a benchmark after its first -count
// sample has run, so that the lines of that sample stand alone. Lines of a later sample would
// end up within the line of its result. A configuration that changes then is an error.
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

// Skip skips b as [testing.B.Skip] does, and prints the reason as a comment among the results.
// The testing package prints the reasons of skipped benchmarks with -v only.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.comment(b.Name(), b.Name()+" is skipped: "+reason)
	b.Skip(reason)
}

// Note prints a text at once, as a comment among the results of a benchmark. The testing package
// prints what a benchmark logs when the benchmark has ended. Where nothing can be printed, as in a
// test, Note logs the text.
func Note(tb testing.TB, text string) {
	tb.Helper()
	if !process.comment(tb.Name(), tb.Name()+": "+text) {
		tb.Log(text)
	}
}

// comment prints a text as a comment, unless the line of a result has begun. It reports whether
// it has printed the text.
func (p *shared) comment(benchmark, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || p.begun[benchmark] {
		return false
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(p.out, "#", strings.TrimSpace(line))
	}
	return true
}

// end unsets the configuration, so that it does not apply to the results that another process
// appends to the same file.
func (p *shared) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(p.state)) {
		fmt.Fprintln(p.out, key+":")
	}
}

// nextPass returns the number of the next pass of a benchmark, over all its -count samples and
// from 0.
func (p *shared) nextPass(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.passes[name]
	p.passes[name]++
	return n
}

// Watch makes [Main] return 1 if tb fails. The testing package forgets failures of a benchmark's
// second and later -count samples. [Run] calls Watch; a benchmark that may fail before Run must
// call it first.
func Watch(tb testing.TB) {
	tb.Cleanup(func() {
		if tb.Failed() {
			process.mu.Lock()
			process.failed = true
			process.mu.Unlock()
		}
	})
}

// hasFailed reports whether a watched benchmark failed.
func (p *shared) hasFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Context returns a context that ends with tb, and also when the process receives a signal that
// [Main] catches; its cause then is "interrupted".
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
