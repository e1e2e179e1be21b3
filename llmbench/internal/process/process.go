package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// errInterrupted is the cause of a context that a signal has ended.
var errInterrupted = errors.New("interrupted")

// current is the state of this process.
var current = &process{passes: map[string]int{}, watched: map[string]bool{}, shown: map[string]bool{}, loads: map[string]int{}, expected: map[string]bool{}, reported: reported{samples: map[string]*samples{}}}

// A process is the state that benchmarks share. It prints only if [Main] was called, and only between the
// lines of results.
type process struct {
	mu        sync.Mutex
	hasMain   bool // Main was called
	warned    bool // the lack of Main was logged
	out       output
	preamble  resultline.Printer // prints nothing if Main was not called for benchmarks
	passes    map[string]int     // number of passes of each benchmark
	attach    attach             // of Main
	afterRun  func()             // of AfterRun; nil if there is none
	unedited  bool               // attach could not have lines edited
	watched   map[string]bool    // names of the top-level benchmarks that called Watch, or whose sub-benchmarks did
	own       []sample.Unit      // units of loads
	screen    *screen.Screen     // where people read, or nil
	comments  bool               // without a screen the table is printed as comments
	job       *screen.Job        // the benchmarks of the process
	table     screen.Overview
	reported  reported
	failed    bool            // a watched benchmark failed
	undecided bool            // a benchmark could not be judged
	nothing   bool            // a benchmark could not be judged, and none has a result
	interrupt context.Context // ends with the first signal; nil if signals are not caught
	last      string          // the last throughput, for the progress line
	told      []string        // what Tell has shown
	shown     map[string]bool // benchmarks with a sample that tellRow has shown
	loads     map[string]int  // the number of loads of benchmarks
	expected  map[string]bool // benchmarks and loads of which Expect has told
	atEnd     []string        // texts that are printed after the results
	speed     string          // speed of the last simulated server that was described
	sent      prefix.Sent     // the openings of all prompts that were sent
	group     *shard.Group    // this process and the others that measure together; nil if it measures alone
}

// attach is like [resultline.Attach].
type attach func(b *testing.B, edit resultline.Editor, failed func(name, log string), lost func(error)) bool

// Main runs m, and returns the exit code. Package llmbench documents it. The lines of a benchmark's results are edited by
// the editor that attach attaches; attach returns false if it cannot.
func Main(m *testing.M, attach attach) int {
	flag.Parse()
	p := current
	p.mu.Lock()
	p.hasMain, p.attach = true, attach
	p.mu.Unlock()
	bench := flag.Lookup("test.bench")
	if bench == nil || bench.Value.String() == "" {
		return m.Run()
	}
	p.job = screen.NewJob(m, bench.Value.String(), flag.Lookup("test.skip").Value.String())
	if others := p.job.Others(); others != nil {
		text := fmt.Sprintf("-bench=%s: no benchmark has such a name; there are %s", bench.Value, strings.Join(others, ", "))
		if ownProgram() {
			fmt.Fprintln(os.Stderr, text)
			return 2
		}
		fmt.Println("# " + text) // the pattern may be for another package
	}
	for _, hint := range env.NewReader(os.Environ()).Hints() {
		fmt.Fprintln(os.Stderr, "#", hint)
	}
	cfg, err := ReadConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if cfg.Report != "" {
		fmt.Fprintf(os.Stderr, "LLMBENCH_REPORT=%s: this program makes no page: want reportmain.Main in place of llmbench.Main in TestMain, or LLMBENCH_OUT and benchreport\n", cfg.Report)
		return 1
	}
	if cfg.Out != "" {
		if err := records.CheckFolder(cfg.Out); err != nil {
			fmt.Fprintf(os.Stderr, "LLMBENCH_OUT=%s: no records can be written there: %v\n", cfg.Out, err)
			return 1
		}
	}
	terminal, err := screen.Open(cfg.Progress)
	if err != nil {
		fmt.Fprintf(os.Stderr, "LLMBENCH_PROGRESS=%s: %v\n", cfg.Progress, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	interrupt, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	onSignal(ctx, cancel, stop)
	if err := p.join(interrupt, cfg.Shards, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if g := p.group; g != nil {
		context.AfterFunc(g.Context(), func() { cancel(g.Err()) })
	}
	p.begin(os.Stdout, terminal, interrupt)
	p.comments = terminal == nil && cfg.Progress != screen.None
	p.job.Begin()
	code := m.Run()
	p.end()
	lost := p.out.error()
	if lost != nil {
		fmt.Fprintln(os.Stderr, "results are lost:", lost)
	}
	if code == 0 && (p.hasFailed() || lost != nil) {
		code = 1
	}
	if code == 0 && p.ranNone() {
		text := fmt.Sprintf("-bench=%s: no result: %s has no sub-benchmark of such a name", bench.Value, strings.Join(p.job.Names(), ", "))
		if ownProgram() {
			fmt.Fprintln(os.Stderr, text)
			code = 2
		} else {
			fmt.Println("# " + text)
		}
	}
	return p.finish(code)
}

// onSignal calls cancel when ctx, which ends with the first signal, has ended. It calls stop, after which signals have
// their default effect, when the time repeated has passed.
func onSignal(ctx context.Context, cancel context.CancelCauseFunc, stop func()) {
	context.AfterFunc(ctx, func() {
		cancel(errInterrupted)
		time.AfterFunc(repeated, stop)
	})
}

// repeated is the time after the first signal in which further signals are ignored. After that, a signal has its
// default effect, which ends the process. Signals come in pairs: timeout sends one to its command and one to its
// process group, and "go tool" forwards the Ctrl-C that the terminal sends to its command, too.
const repeated = time.Second

// ownProgram reports whether this program is not one of several test binaries that "go test" runs with the same pattern,
// and runs benchmarks only.
func ownProgram() bool {
	return !strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") && flag.Lookup("test.run").Value.String() == "^$" && !listsOnly()
}

// begin allows p to print to out, and to show progress and results on a terminal unless terminal is nil.
func (p *process) begin(out io.Writer, terminal *screen.Screen, interrupt context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.to = out
	p.preamble.Out, p.screen, p.interrupt = &p.out, terminal, interrupt
}

// end prints what comes after the results: how to repeat the prompts, and the table with its summary.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nothing = p.undecided && p.table.Results == 0 && !p.unedited // edited lines are counted
	if p.follows() {
		p.table = screen.Overview{}
	} else if p.unedited {
		for _, u := range p.units() {
			fmt.Fprint(p.preamble.Out, p.preamble.Describe(u))
		}
	}
	for _, text := range p.atEnd {
		p.preamble.End(text)
	}
	if text := endpoint.Sent.String(); text != "" && !p.follows() {
		p.preamble.End("requests that no result counts: " + redact.Known().Hide(text))
	}
	if p.screen == nil {
		if p.comments {
			p.preamble.End(p.table.Report(commentWidth))
		}
		return
	}
	if text := redact.Known().Remove(p.table.Report(p.screen.Width())); text != "" {
		fmt.Fprint(p.screen, "\n"+text)
	}
	p.screen.Close()
	p.screen = nil
}

// commentWidth is the width in columns of a table that is printed as comments.
const commentWidth = 118

// hasFailed reports whether a watched benchmark failed, or one could not be judged and no benchmark has a result.
func (p *process) hasFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed || p.nothing
}

// ranNone reports whether the benchmarks that the pattern selects have run without a result, because the pattern selects
// none of their sub-benchmarks. It returns false if that is not known.
func (p *process) ranNone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.job.Names()
	// A benchmark that does not call Watch may have printed results.
	watched := len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !p.watched[name] })
	known := p.preamble.Out != nil && !p.unedited && p.group == nil && (watched || ownProgram())
	return known && p.table.Results == 0 && p.table.Skipped == 0 && !p.undecided && !listsOnly()
}

// listsOnly reports whether the process only lists names.
func listsOnly() bool { return flag.Lookup("test.list").Value.String() != "" }
