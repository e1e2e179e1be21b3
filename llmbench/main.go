package llmbench

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// errInterrupted is the cause of a context that ends because of a signal.
var errInterrupted = errors.New("interrupted")

// process is the state that the benchmarks of this process share.
var process = &shared{passes: map[string]int{}, attach: resultline.Attach}

// A shared is the state of a process. It prints only if [Main] was called, and only between the
// lines of results.
type shared struct {
	mu        sync.Mutex
	hasMain   bool               // Main was called
	warned    bool               // the lack of Main was logged
	preamble  resultline.Printer // prints nothing if Main was not called for benchmarks
	passes    map[string]int     // number of passes of each benchmark
	attach    func(*testing.B, resultline.Editor) bool
	own       []sample.Unit  // units of loads
	screen    *screen.Screen // where people read, or nil
	comments  bool           // without a screen the table is printed as comments
	job       *screen.Job    // the benchmarks of the process
	table     screen.Overview
	failed    bool            // a watched benchmark failed
	interrupt context.Context // ends with the first signal; nil: signals are not caught
	last      string          // the last throughput, for the progress line
	salts     []string        // what is said at the end about the salts of prompts
	speed     string          // of the simulated server that was described last
	sent      prefix.Sent     // the beginnings of all prompts
	group     *shard.Group    // this process and others that measure together; nil: it measures alone
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
// With -bench, Main checks the configuration. The configuration of each target is printed before
// its results. In the lines of results of benchmarks under [Run] or [Watch], the figures are in the
// order of [Units]. The metadata of a unit is printed before the first line that has the unit.
// Main returns 1 if a benchmark under Run or Watch failed in any -count sample; the testing
// package itself only notices a failure in the first.
//
// After the results comes a table of them for people, and a line that sums them up. Both are on
// standard error, or on the standard error of the go command, which gives a test binary its standard output for both. Where
// these are one file, both are comments after the results. On a terminal the progress is shown too.
// LLMBENCH_PROGRESS says otherwise.
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
	if cfg.out != "" {
		if err := records.CheckFolder(cfg.out); err != nil {
			fmt.Fprintf(os.Stderr, "LLMBENCH_OUT=%s: no records can be written there: %v\n", cfg.out, err)
			return 1
		}
	}
	terminal, err := screen.Open(cfg.progress)
	if err != nil {
		fmt.Fprintf(os.Stderr, "LLMBENCH_PROGRESS=%s: %v\n", cfg.progress, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	interrupt, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	context.AfterFunc(ctx, func() {
		cancel(errInterrupted)
		stop() // the next signal has its usual effect
	})
	if err := process.join(interrupt, cfg.shards, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if g := process.group; g != nil {
		context.AfterFunc(g.Context(), func() { cancel(g.Err()) })
	}
	process.begin(os.Stdout, terminal, interrupt)
	process.comments = terminal == nil && cfg.progress != screen.None
	process.job = screen.NewJob(m, flag.Lookup("test.bench").Value.String(), flag.Lookup("test.skip").Value.String())
	code := m.Run()
	process.end()
	if code == 0 && process.hasFailed() {
		code = 1
	}
	return process.finish(code)
}

// begin lets p print to out, and show what is for people on a terminal, unless that is nil.
func (p *shared) begin(out io.Writer, terminal *screen.Screen, interrupt context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preamble.Out, p.screen, p.interrupt = out, terminal, interrupt
}

// end prints what comes after the results: how prompts are repeated, the table and its summary.
func (p *shared) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.salts {
		p.preamble.End(text)
	}
	if p.follows() {
		p.table = screen.Overview{}
	}
	if p.screen == nil {
		if p.comments {
			p.preamble.End(p.table.Report(commentWidth))
		}
		return
	}
	if text := p.table.Report(p.screen.Width()); text != "" {
		fmt.Fprint(p.screen, "\n"+text)
	}
	p.screen.Close()
	p.screen = nil
}

// commentWidth is the number of columns of a table that is printed as comments.
const commentWidth = 118

// show adds a -count sample of a benchmark to the table.
func (p *shared) show(e screen.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Add(e)
}

// showPass shows the progress of a pass until stop is called, on a terminal or in the log.
func (p *shared) showPass(pass screen.Pass, logf func(string, ...any)) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pass.Last = p.last
	var on screen.Canvas
	if p.screen != nil {
		on = p.screen
		pass.Place, pass.Left = p.job.Place(pass.Benchmark)
	}
	return pass.Show(on, testing.Verbose(), logf)
}

// edit has the lines of a benchmark's results edited. If the testing package does not let that
// happen, the metadata of all units of the process is printed at once, and a shard that must print
// no results fails.
func (p *shared) edit(tb testing.TB) {
	b, ok := tb.(*testing.B)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok || p.preamble.Out == nil || p.attach(b, p.editLine) || p.preamble.InLine(b.Name()) {
		return
	}
	if p.follows() {
		p.group.Fail(errors.New("this version of Go does not let a shard leave its results to shard 0"))
		return
	}
	for _, u := range p.units() {
		fmt.Fprint(p.preamble.Out, p.preamble.Describe(u))
	}
}

// addUnits adds the units of a load to those of the process.
func (p *shared) addUnits(units []sample.Unit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range units {
		if !slices.ContainsFunc(p.units(), named(u.Name)) {
			p.own = append(p.own, u)
		}
	}
}

// units returns the units of the process, in the order of the lines of results.
func (p *shared) units() []sample.Unit { return slices.Concat(Units(), p.own) }

// editLine puts the figures of a result into the order of the units. Figures of the testing package
// itself stay in their places at the beginning, and figures of other units come last. It
// returns the metadata of the units that no line before had, and a comment for each figure that is
// left out because it is no finite number. A shard other than shard 0 writes a comment instead of
// the line.
func (p *shared) editLine(l *resultline.Line) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.follows() {
		l.Drop = true
		return fmt.Sprintf("# %s: the result of all %d shards is that of shard 0; this is shard %d\n", l.Name, p.group.Count, p.group.Index)
	}
	l.Figures = slices.DeleteFunc(l.Figures, func(f resultline.Figure) bool {
		if finite(f.Value) {
			return false
		}
		before += fmt.Sprintf("# %s: %s is left out: it is %v, want a finite number\n", l.Name, f.Unit, f.Value)
		return true
	})
	l.Drop = len(l.Figures) == 0
	rank := map[string]int{"ns/op": -1, "MB/s": -1}
	units := p.units()
	for i, u := range units {
		rank[u.Name] = i
	}
	place := func(f resultline.Figure) int {
		if at, known := rank[f.Unit]; known {
			return at
		}
		return len(units)
	}
	slices.SortStableFunc(l.Figures, func(a, b resultline.Figure) int { return cmp.Compare(place(a), place(b)) })
	p.table.Results++
	for _, f := range l.Figures {
		// A figure that only tells results apart says nothing to people.
		if !slices.ContainsFunc(sample.Units, func(u sample.Unit) bool { return u.Name == f.Unit || u.Apart == f.Unit }) {
			p.table.AddFigure(withoutCPUs(l.Name), f.Unit, f.Value)
		}
		if at, known := rank[f.Unit]; known && at >= 0 {
			before += p.preamble.Describe(units[at])
		}
	}
	return before
}

// finite reports whether v may be in a line of results. Benchstat takes all memory for an infinite value.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// withoutCPUs returns the name of a benchmark in a line of results as testing.B.Name has it.
func withoutCPUs(name string) string {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		name = strings.TrimSuffix(name, fmt.Sprintf("-%d", n))
	}
	return name
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

// Announce prints the configuration lines of t before the results of b. [Run] calls it;
// benchmarks that measure a server in another way call it themselves. It returns an error if
// the configuration differs from that of an earlier -count sample of b.
func Announce(b *testing.B, t Target) error {
	b.Helper()
	process.announceSalt(b, t)
	process.announceSpeed(b, t)
	config := t.config()
	if n := process.shards(); n > 0 {
		config["shards"] = strconv.Itoa(n)
	}
	return process.announce(b.Name(), config)
}

// announceSpeed prints a comment with the speed of a simulated server, unless the server before had
// the same.
func (p *shared) announceSpeed(b *testing.B, t Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	speed := ""
	if t.Truth != nil {
		speed = t.Truth.Speed
	}
	if speed == p.speed || p.preamble.InLine(b.Name()) {
		return
	}
	if p.speed = speed; speed != "" {
		p.preamble.Comment(b.Name(), "the server is simulated: "+speed)
	}
}

// announceSalt keeps for the end of the process what the salt of prompts for t is, if they have one. Without
// Main it is logged.
func (p *shared) announceSalt(b *testing.B, t Target) {
	b.Helper()
	salt := usedSalt.Load()
	if salt == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("LLMBENCH_SALT=%d repeats the prompts of this process", salt)
	if t.KeepsPrompts && salt == keptSalt {
		text += ": the server keeps the prompts that it has seen, so that each benchmark and pass sends others; LLMBENCH_SALT=0 sends texts from files as they are"
	}
	if slices.Contains(p.salts, text) {
		return
	}
	p.salts = append(p.salts, text)
	if p.preamble.Out == nil {
		b.Log(text)
	}
}

// announce prints the configuration lines that change with config, unless another process prints
// the results.
func (p *shared) announce(benchmark string, config map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.preamble.Configure(benchmark, config, p.follows())
}

// Skip skips b as [testing.B.Skip] does, and prints the reason as a comment among the results.
// The testing package prints the reasons of skipped benchmarks with -v only.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.comment(b.Name(), b.Name()+" is skipped: "+reason)
	process.skipped()
	b.Skip(reason)
}

// skipped counts a benchmark that is skipped.
func (p *shared) skipped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Skipped++
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
	return p.preamble.Comment(benchmark, text)
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
// second and later -count samples. Watch also makes Main print the metadata of the units that tb
// reports. [Run] calls Watch; a benchmark that may fail before Run must call it first, and so must
// a benchmark that reports figures without Run.
func Watch(tb testing.TB) {
	process.edit(tb)
	tb.Cleanup(func() {
		if tb.Failed() {
			process.mu.Lock()
			defer process.mu.Unlock()
			process.failed = true
			if !process.table.Has(tb.Name()) {
				process.table.Add(screen.Entry{Benchmark: tb.Name(), Notes: []string{"failed: see the log"}})
			}
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
// [Main] catches; its cause then is "interrupted". It ends as well if another shard is lost.
func Context(tb testing.TB) context.Context {
	ctx, cancel := context.WithCancelCause(tb.Context())
	process.mu.Lock()
	interrupt := process.interrupt
	process.mu.Unlock()
	if interrupt != nil {
		stop := context.AfterFunc(interrupt, func() { cancel(context.Cause(interrupt)) })
		tb.Cleanup(func() { stop() })
		if interrupt.Err() != nil {
			cancel(context.Cause(interrupt))
		}
	}
	tb.Cleanup(func() { cancel(nil) })
	return ctx
}
