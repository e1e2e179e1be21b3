// Verdict measures both errors of a benchmark that judges its own figures: untrue figures that it
// shows, and true figures that it withholds. It runs a client many times, and compares each
// figure with the log of the mock server.
//
// The mock server is a process of its own. Its log has the instants between which each token left the
// server, so that each figure is known as a client without delays of its own would have measured
// it. The truth is computed by the definitions of the client:
//
//   - t0 of a request is the instant at which the request reached the server: when
//     the client had written it, or when the server's handler began, whichever was
//     first.
//   - A token has the instant of the server's write call. If the call took long, because
//     the server itself was stopped, any instant from its begin to its end is true.
//   - A rate is computed for workers which begin as planned, and send the next request as
//     soon as the server has written the end of the answer before.
//
// What is run, and what is promised, is said by the first argument. Without one, the client is BenchmarkServe:
//
//   - No figure that is shown differs from the truth by more than 5 %.
//   - In healthy runs all figures within 2 % of the truth are shown at 2 ms a token and more.
//   - In healthy runs 90 % of them are shown at 0.5 ms a token.
//   - At 2 ms a token and more client-err-% is, in 90 of 100 runs, within a factor of 2 of the largest true error
//     of a figure, or both are at most 2 %.
//
// A run is healthy if nothing runs beside the client, and the server's own mean TPOT is within 5 %, and its median
// TTFT within 10 % and 2 ms, of what the server was told: a server that is later shares the client's lack of cores.
//
// With "starved" two of three clients have the whole machine, and one has 1 % of a CPU: it runs in a cgroup, which needs
// root. Figures are shown in any case.
//
//   - client-err-% is above 5 % for each starved client.
//   - client-err-% is above 5 % for no other client whose figures are all within 2.5 % of the truth.
//
// With "k6" the client is k6 with the extension of llmbench/k6, and each VU is a stream.
//
//   - The median of llm_ttft is within 1 ms of the truth.
//
// The exit status is 0 if the promises hold, 1 if one is broken, and 2 if the runs
// could not be made. The machine needs two idle cores, Linux and taskset.
//
// Usage:
//
//	go run ./.ci/verdict [starved | k6] [flags]
//
// There is a run for each combination of -ttft, -per-token, -streams, and what runs beside the client: -loops
// and -build. They take turns until there are as many as -runs. Verdict writes a
// JSON line for each run to results.jsonl in the folder of -dir, with the value, the
// truth and the error of each figure. With -keep the folder also gets the output of
// the client, its records and the server's log. The default, 48 loads with three
// neighbours, takes half an hour.
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

// A check is what clients are run, and what is promised of them.
type check string

const (
	grid    check = "" // BenchmarkServe, for many loads
	starved check = "starved"
	k6      check = "k6"
)

// options are the command line.
type options struct {
	check                check
	runs                 int
	ttft, perToken       []time.Duration
	streams, loops       []int
	build                bool
	waves, tokens        int
	mockCore, clientCore int
	dir                  string
	keep                 bool
}

func main() {
	// The children end with the thread that started them, which is this one.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command. It returns the exit status.
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
	if o.check == grid {
		fmt.Fprintln(stdout, table(results))
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

// defaults returns the options of a check.
func (c check) defaults() options {
	const ms = time.Millisecond
	o := options{check: c, ttft: []time.Duration{200 * ms}, perToken: []time.Duration{20 * ms}, loops: []int{0}}
	switch c {
	case starved:
		o.runs, o.streams, o.waves, o.tokens = 30, []int{16}, 2, 40
	case k6:
		o.streams, o.waves, o.tokens = []int{64, 256}, 13, 64
	default:
		o.ttft, o.perToken = []time.Duration{10 * ms, 40 * ms, 200 * ms}, []time.Duration{ms / 5, ms / 2, 2 * ms, 20 * ms}
		o.streams, o.waves, o.tokens, o.loops, o.build = []int{1, 8, 64, 256}, 4, 64, []int{0, 1}, true
	}
	return o
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	var c check
	if len(args) > 0 && slices.Contains([]check{starved, k6}, check(args[0])) {
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
	fs.StringVar(&o.dir, "dir", filepath.Join(".ci/cache/verdict", string(c)), "`folder` of the results")
	fs.BoolVar(&o.keep, "keep", false, "also keep the output and the records of the client, and the log of the server")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("argument %q: want starved or k6 first, and then flags", fs.Arg(0))
	case o.runs < 0 || o.waves < 1:
		return o, fmt.Errorf("%d runs of %d waves; want at least 0 of 1", o.runs, o.waves)
	case o.tokens < 2:
		return o, fmt.Errorf("%d tokens; want at least 2", o.tokens)
	case o.mockCore >= 0 && o.mockCore == o.clientCore:
		return o, fmt.Errorf("core %d for both the mock server and the client; want two cores", o.mockCore)
	}
	return o, nil
}

// shown returns the default of a flag as its description shows it.
func shown[T any](values []T) string { return strings.ReplaceAll(fmt.Sprint(values), " ", ",") }

// list returns the function of a flag that is a list of values.
func list[T cmp.Ordered](to *[]T, least T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			v, err := parse(part)
			if err != nil || v < least {
				return fmt.Errorf("%q; want values of at least %v", part, least)
			}
			*to = append(*to, v)
		}
		return nil
	}
}
