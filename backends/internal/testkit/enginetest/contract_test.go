//go:build unix

package enginetest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

var demand = flag.Bool("demand", false, "also run the engines that .ci/run does not run each time")

// key is what clients have to send to engines that can require a key.
const key = "sk-of-the-contract"

// scenarios are those that measure a server at a URL, with variables that make their load small. Long ones take minutes.
// Those on demand differ from Serve only in the lengths and texts of their requests.
var scenarios = []struct {
	name     string
	env      []string
	long     bool
	onDemand bool
}{
	{name: "Serve", env: load(8)},
	{name: "Chat", env: few, onDemand: true},
	{name: "Prefill", env: few, onDemand: true},
	{name: "Decode", env: few, onDemand: true},
	{name: "OpenQA", env: few, onDemand: true},
	{name: "CodeQA", env: few, onDemand: true},
	{name: "Concurrency", env: load(8), onDemand: true},
	{name: "PrefixCache", env: few},
	{name: "MultiTurn", env: load(8)},
	{name: "Routing", env: few},
	{name: "Shedding", env: []string{"LLMBENCH_REQUESTS=16"}},
	{name: "GatewayOverhead", env: load(8)},
	{name: "Accuracy", env: few},
	{name: "Agreement", env: load(8)},
	{name: "Reasoning", env: load(8)},
	{name: "ToolCalls", env: few},
	{name: "StructuredOutput", env: few},
	{name: "Embeddings", env: few},
	{name: "Rerank", env: few},
	{name: "Fairness", long: true},
	{name: "Interference", long: true},
	{name: "LengthGrid", env: few, long: true},
	{name: "LongContext", env: few, long: true},
	{name: "ShareGPT", env: few, long: true},
	{name: "SLO", long: true},
	{name: "Sweep", long: true},
	{name: "Trace", env: []string{"LLMBENCH_REQUESTS=8"}, long: true},
}

// few are the variables of few requests.
var few = []string{"LLMBENCH_CONCURRENCY=4", "LLMBENCH_REQUESTS=8"}

// checks are what is asked of each engine, in order. The last one ends the engine.
var checks = []struct {
	name string
	of   func(enginetest.Engine) bool // nil means all engines
	run  func(*testing.T, contract)
	long bool // the check runs on demand, because it starts an engine of its own, or a large program
}{
	{"scenarios", nil, checkScenarios, false},
	{"counts", func(e enginetest.Engine) bool { return e.Counters.Output != nil }, checkCounts, false},
	{"cache", func(e enginetest.Engine) bool { return e.Counters.Cached != nil }, checkCache, false},
	{"queue", func(e enginetest.Engine) bool { return e.Counters.Queue != "" }, checkQueue, false},
	{"another client", func(e enginetest.Engine) bool { return e.Counters.Requests != nil }, checkAnotherClient, false},
	{"too long", func(e enginetest.Engine) bool { return e.MaxLen > 0 }, checkTooLong, false},
	{"wrong model", func(e enginetest.Engine) bool { return !e.AnyModel }, checkWrongModel, false},
	{"no key", enginetest.Engine.Keyed, func(t *testing.T, c contract) { checkKey(t, c, "") }, false},
	{"wrong key", enginetest.Engine.Keyed, func(t *testing.T, c contract) { checkKey(t, c, "sk-wrong") }, false},
	{"continuous usage", func(e enginetest.Engine) bool { return e.ContinuousUsage }, checkContinuousUsage, false},
	{"pooling", func(e enginetest.Engine) bool { return e.Pooling != nil }, checkPooling, true},
	{"LoRA", func(e enginetest.Engine) bool { return e.LoRA != nil }, checkLoRA, true},
	{"SIGTERM", nil, func(t *testing.T, c contract) {
		checkEnd(t, newContract(t, c.Engine, enginetest.Options{Key: key}), syscall.SIGTERM)
	}, false},
	{"process", nil, checkProcess, false},
	{"its own benchmark", enginetest.Engine.HasBenchmark, checkOwnBenchmark, true},
	{"SIGSTOP", nil, checkStop, false},
	{"SIGKILL", nil, func(t *testing.T, c contract) { checkEnd(t, c, syscall.SIGKILL) }, false},
}

// TestContract measures each engine as users do, by a program of the scenarios in another process, and compares the
// results with what the engine counts.
func TestContract(t *testing.T) {
	for _, e := range enginetest.Engines {
		t.Run(e.Name, func(t *testing.T) {
			if !e.Each && !*demand {
				t.Skipf("%s runs on demand: go run ./.ci/engines -check %[1]s", e.Name)
			}
			enginetest.Check(t, e)
			t.Parallel()
			c := newContract(t, e, enginetest.Options{Key: key})
			n := 0
			for _, check := range checks {
				if check.of == nil || check.of(e) {
					t.Run(check.name, func(t *testing.T) {
						if check.long && !*demand {
							t.Skipf("this check runs on demand: go run ./.ci/engines -check %s", e.Name)
						}
						haveTime(t)
						n++
						check.run(t, c)
					})
				}
			}
			document(t, e, n)
		})
	}
}

// leastLeft is the time that a check should have. On a busy machine it needs a minute.
const leastLeft = 2 * time.Minute

// haveTime ends t if so little of go test's -timeout is left that the check would probably be killed, and all results with
// it.
func haveTime(t *testing.T) {
	if deadline, has := t.Deadline(); has && time.Until(deadline) < leastLeft {
		need.Missing(t, need.Engines, fmt.Errorf("less than %v of -timeout are left: want more, as go test -timeout=20m has", leastLeft))
	}
}

// A contract is an engine that is measured.
type contract struct {
	*enginetest.Server
	program string // the scenarios
}

func newContract(t *testing.T, e enginetest.Engine, o enginetest.Options) contract {
	t.Helper()
	c := contract{enginetest.Start(t, e, o), scenariostest.Program(t)}
	t.Logf("ready after %.1f s", c.Ready.Seconds())
	return c
}

// A measurement is one run of scenarios.
type measurement struct {
	out      string // standard output and standard error
	err      error  // nil if the program ended with status 0
	rows     []*benchfmt.Result
	requests []*records.Request // that were measured
}

// Limits of one run of the scenarios, or of an engine's own benchmark, and of the wait for what a program that was
// killed leaves behind. They are long, because the machine may be busy.
const (
	measureTimeout = 6 * time.Minute
	waitDelay      = 10 * time.Second
)

// command returns the command that measures scenarios, whose names are a regular expression, and the folder of its
// records.
func (c contract) command(t *testing.T, scenarios string, env ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), measureTimeout)
	t.Cleanup(cancel)
	dir = t.TempDir()
	cmd = exec.CommandContext(ctx, c.program, "-test.run=^$", "-test.bench=^Benchmark("+scenarios+")$", "-test.benchtime=1x")
	cmd.WaitDelay = waitDelay
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+c.URL, "LLMBENCH_NAME="+c.Name, "LLMBENCH_API_KEY="+c.Key, "LLMBENCH_OUT="+dir,
		"LLMBENCH_CLIENT_BOUND=report") // the client shares its CPU cores with the engine and with other tests
	if c.Body != "" {
		cmd.Env = append(cmd.Env, "LLMBENCH_BODY="+c.Body)
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd, dir
}

// measure runs scenarios and reads what they write.
func (c contract) measure(t *testing.T, scenarios string, env ...string) measurement {
	t.Helper()
	cmd, dir := c.command(t, scenarios, env...)
	out, err := cmd.CombinedOutput()
	return read(t, string(out), err, dir)
}

// read reads the results in out, and the records in the folder dir.
func read(t *testing.T, out string, err error, dir string) measurement {
	t.Helper()
	m := measurement{out: out, err: err}
	r := benchfmt.NewReader(strings.NewReader(out), "output")
	for r.Scan() {
		if row, ok := r.Result().(*benchfmt.Result); ok {
			m.rows = append(m.rows, row.Clone())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	assert.NilError(t, err)
	for _, file := range files {
		run, err := records.Open(file)
		assert.NilError(t, err)
		m.requests = slices.AppendSeq(m.requests, run.All())
	}
	return m
}

// load is a small load of BenchmarkServe.
func load(requests int, more ...string) []string {
	return append(more, "LLMBENCH_CONCURRENCY=4", fmt.Sprintf("LLMBENCH_REQUESTS=%d", requests), "LLMBENCH_INPUT=200", "LLMBENCH_OUTPUT=24")
}
