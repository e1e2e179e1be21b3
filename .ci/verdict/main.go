// Verdict checks how well a benchmark judges its own metrics. Two kinds of error are possible: the benchmark
// shows an untrue metric, or it withholds a true one. Verdict runs a client many times, and compares each
// metric with the truth, which it computes from the log of the mock server.
//
// The mock server is a separate process. For each token, its log has the times between which the token left the
// server. So each metric can be computed as a client without any delays would have measured it. The truth uses
// the client's definitions of the metrics:
//
//   - A request begins (t0) when it reaches the server. That is when the client had written it, or when the
//     server's kernel received it, whichever was first. If the log does not have the latter, the time when the
//     server's handler began is used.
//   - A token is sent at the time of the server's write call. If the call took long, because the server itself
//     was stopped, any time during the call counts as true.
//   - For rates, the workers begin as planned, and send the next request as soon as the server has written the
//     end of the previous response.
//
// The first argument says which client runs and what is promised. Without an argument, the client is
// BenchmarkServe, and the promises are:
//
//   - No metric that is shown differs from the truth by more than 5 %.
//   - In healthy runs at 2 ms per token and more, all metrics within 2 % of the truth are shown.
//   - In healthy runs at 0.5 ms per token, 90 % of the metrics within 2 % of the truth are shown.
//   - At 2 ms per token and more, client-err-% is right in 90 of 100 runs: it is within a factor of 2 of the
//     largest true error of a shown metric, or both are at most 2 %.
//
// A run is healthy if nothing runs beside the client and if the server is about as fast as it was configured to
// be: its own mean TPOT is within 5 % of the configured time, and its median TTFT within 10 % and 2 ms. A
// slower server suffers from the same lack of CPU time as the client.
//
// With "starved", two of three clients have the whole machine, and one has 2 % of a CPU. That client runs in a
// cgroup, which needs root. All metrics are shown. The promises are:
//
//   - client-err-% is above 5 % for every starved client, or within a factor of 2 of the client's largest true error:
//     on a fast machine, 2 % of a CPU is almost enough.
//   - client-err-% is at most 5 % for every other client whose metrics are all within 2.5 % of the truth.
//
// With "k6", the client is k6 with the extension in llmbench/k6, and each virtual user (VU) is a stream. The
// promise is:
//
//   - The median of llm_ttft is within 1 ms of the truth.
//
// With "priority", the client runs in pairs, once with a better place in the queue for a CPU and once without
// (LLMBENCH_PRIORITY), in random order. Busy loops keep all cores busy beside the mock server, or a real server of this
// machine does (-url, -model, -loops=0), whose own log is unknown. The promises are:
//
//   - With priority, 1 run of 60 has no figures, at most.
//   - No metric that is shown with priority differs from the truth by more than 5 %.
//   - With priority, the median throughput, and the CPU time that the loops get, is 99 % of what it is without, or more.
//
// The exit status is 0 if the promises hold, 1 if one is broken, and 2 if the runs could not be made. The
// machine needs two idle cores, Linux and taskset.
//
// Usage:
//
//	go run ./.ci/verdict [starved | k6 | priority] [flags]
//
// There is a run for each combination of -ttft, -per-token, -streams and what runs beside the client (-loops
// and -build). The combinations are repeated in turn until there are -runs runs. Verdict writes a JSON line for
// each run to results.jsonl in the folder of -dir, with the value, the truth and the error of each metric. With
// -keep, the folder also gets the client's output, its records and the server's log. By default there are 48
// loads. Each runs alone, beside a busy loop and beside a build, which takes half an hour in total.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A check says which clients run and what is promised of them.
type check string

const (
	grid    check = "" // BenchmarkServe, for many loads
	starved check = "starved"
	k6      check = "k6"
	// byPriority runs BenchmarkServe with and without priority in the queue for a CPU, beside work for all cores.
	byPriority check = "priority"
)

// options holds the flags of the command line and the check.
type options struct {
	check                check
	runs                 int
	ttft, perToken       []time.Duration
	streams, loops       []int
	build                bool
	waves, tokens        int
	mockCore, clientCore int
	priority             string
	url, model           string
	dir                  string
	keep                 bool
}

func main() {
	// Child processes are killed when the thread that started them ends (Pdeathsig). So this goroutine must
	// stay on its thread.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "verdict:", err)
		return 2
	}
	results, err := measure(ctx, o, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "verdict:", err)
		return 2
	}
	fmt.Fprintln(stdout)
	switch o.check {
	case grid:
		fmt.Fprintln(stdout, table(results))
	case byPriority:
		fmt.Fprintln(stdout, priorityTable(results))
	}
	broken := 0
	for _, p := range o.check.promises(results) {
		fmt.Fprintln(stdout, p)
		if !p.held {
			broken = 1
		}
	}
	return broken
}

// defaults returns the default options of a check.
func (c check) defaults() options {
	const ms = time.Millisecond
	o := options{check: c, ttft: []time.Duration{200 * ms}, perToken: []time.Duration{20 * ms}, loops: []int{0}, priority: "none", model: "mock"}
	switch c {
	case starved:
		o.runs, o.streams, o.waves, o.tokens = 30, []int{16}, 2, 40
	case k6:
		o.streams, o.waves, o.tokens = []int{64, 256}, 13, 64
	case byPriority:
		o.priority = "auto"
		o.runs, o.streams, o.waves, o.tokens, o.loops = 120, []int{1, 4}, 16, 64, []int{runtime.NumCPU()}
		o.ttft, o.perToken = []time.Duration{40 * ms}, []time.Duration{5 * ms}
	default:
		o.ttft, o.perToken = []time.Duration{10 * ms, 40 * ms, 200 * ms}, []time.Duration{ms / 5, ms / 2, 2 * ms, 20 * ms}
		o.streams, o.waves, o.tokens, o.loops, o.build = []int{1, 8, 64, 256}, 4, 64, []int{0, 1}, true
	}
	return o
}

// parse parses the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	var c check
	if len(args) > 0 && slices.Contains([]check{starved, k6, byPriority}, check(args[0])) {
		c, args = check(args[0]), args[1:]
	}
	o := c.defaults()
	fs := flag.NewFlagSet("verdict", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&o.runs, "runs", o.runs, "`number` of runs; 0: one for each load")
	fs.Func("ttft", "comma-separated `times` to the first token "+shown(o.ttft), list(&o.ttft, 0, time.ParseDuration))
	fs.Func("per-token", "comma-separated `times` of a token "+shown(o.perToken), list(&o.perToken, 0, time.ParseDuration))
	fs.Func("streams", "comma-separated `numbers` of concurrent streams "+shown(o.streams), list(&o.streams, 1, strconv.Atoi))
	fs.Func("loops", "comma-separated `numbers` of busy loops on the client's core "+shown(o.loops), list(&o.loops, 0, strconv.Atoi))
	fs.BoolVar(&o.build, "build", o.build, "also make runs beside a build at nice 19")
	fs.IntVar(&o.waves, "waves", o.waves, "`number` of requests that each stream sends")
	fs.IntVar(&o.tokens, "tokens", o.tokens, "`number` of tokens in an answer")
	fs.IntVar(&o.mockCore, "mock-core", -1, "`core` of the mock server; -1: any")
	fs.IntVar(&o.clientCore, "client-core", -1, "`core` of the client and of what runs beside it; -1: any")
	fs.StringVar(&o.priority, "priority", o.priority, "LLMBENCH_PRIORITY of the client: auto or `none`")
	fs.StringVar(&o.url, "url", "", "`address` of a server that runs already, instead of the mock server; for the check priority")
	fs.StringVar(&o.model, "model", o.model, "`name` of the server's model")
	fs.StringVar(&o.dir, "dir", filepath.Join(".ci/cache/verdict", string(c)), "`folder` of the results")
	fs.BoolVar(&o.keep, "keep", false, "also keep the output and the records of the client, and the log of the server")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.url != "" { // the server's speed is its own
		o.ttft, o.perToken = []time.Duration{0}, []time.Duration{0}
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("argument %q: want starved, k6 or priority first, and then flags", fs.Arg(0))
	case o.runs < 0 || o.waves < 1:
		return o, fmt.Errorf("%d runs of %d waves: want at least 0 of 1", o.runs, o.waves)
	case o.tokens < 2:
		return o, fmt.Errorf("%d tokens: want at least 2", o.tokens)
	case o.priority != "auto" && o.priority != "none":
		return o, fmt.Errorf("priority %q: want auto or none", o.priority)
	case c != byPriority && o.url != "":
		return o, fmt.Errorf("the server at %s has no log to compare with: want the check priority", o.url)
	case c == byPriority && o.runs%2 != 0:
		return o, fmt.Errorf("%d runs: want pairs of runs, one with and one without priority", o.runs)
	case o.mockCore >= 0 && o.mockCore == o.clientCore:
		return o, fmt.Errorf("core %d for both the mock server and the client: want two cores", o.mockCore)
	}
	return o, nil
}

// shown formats the default of a list flag for the flag's description.
func shown[T any](values []T) string { return strings.ReplaceAll(fmt.Sprint(values), " ", ",") }

// list returns a parser for a flag that is a comma-separated list of values, each at least least.
func list[T cmp.Ordered](to *[]T, least T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			v, err := parse(part)
			if err != nil || v < least {
				return fmt.Errorf("%q: want values of at least %v", part, least)
			}
			*to = append(*to, v)
		}
		return nil
	}
}
