// Verdict measures both errors of a benchmark that judges its own figures: untrue figures that it
// shows, and true figures that it withholds. It runs BenchmarkServe many times, and compares each
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
// Verdict checks four promises:
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
// The exit status is 0 if the promises hold, 1 if one is broken, and 2 if the runs
// could not be made. The machine needs two idle cores, Linux and taskset.
//
// Usage:
//
//	go run ./.ci/verdict [flags]
//
// There is a run for each combination of -ttft, -per-token, -streams, and what runs beside the client: -loops
// and -build. They take turns until there are as many as -runs. Verdict writes a
// JSON line for each run to results.jsonl in the folder of -dir, with the value, the
// truth and the error of each figure. With -keep the folder also gets the output of
// the benchmark, its records and the server's log. The default, 48 loads with three
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
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
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
	fmt.Fprintf(stdout, "\n%s\n", table(results))
	broken := 0
	for _, p := range promises(results) {
		fmt.Fprintln(stdout, p)
		if !p.held {
			broken = 1
		}
	}
	return broken
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	const ms = time.Millisecond
	o := options{ttft: []time.Duration{10 * ms, 40 * ms, 200 * ms}, perToken: []time.Duration{ms / 5, ms / 2, 2 * ms, 20 * ms}, streams: []int{1, 8, 64, 256}, loops: []int{0, 1}}
	fs := flag.NewFlagSet("verdict", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&o.runs, "runs", 0, "`number` of runs; 0: one for each load")
	fs.Func("ttft", "comma-separated `times` to the first token (10ms,40ms,200ms)", list(&o.ttft, 0, time.ParseDuration))
	fs.Func("per-token", "comma-separated `times` of a token (200us,500us,2ms,20ms)", list(&o.perToken, 0, time.ParseDuration))
	fs.Func("streams", "comma-separated `numbers` of concurrent streams (1,8,64,256)", list(&o.streams, 1, strconv.Atoi))
	fs.Func("loops", "comma-separated `numbers` of busy loops on the client's core (0,1)", list(&o.loops, 0, strconv.Atoi))
	fs.BoolVar(&o.build, "build", true, "also make runs beside a build at nice 19")
	fs.IntVar(&o.waves, "waves", 4, "`number` of requests that each stream sends")
	fs.IntVar(&o.tokens, "tokens", 64, "`number` of tokens in an answer")
	fs.IntVar(&o.mockCore, "mock-core", -1, "`core` of the mock server; -1: any")
	fs.IntVar(&o.clientCore, "client-core", -1, "`core` of the client and of what runs beside it; -1: any")
	fs.StringVar(&o.dir, "dir", ".ci/cache/verdict", "`folder` of the results")
	fs.BoolVar(&o.keep, "keep", false, "also keep the output and the records of the benchmark, and the log of the server")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	case o.runs < 0 || o.waves < 1:
		return o, fmt.Errorf("%d runs of %d waves; want at least 0 of 1", o.runs, o.waves)
	case o.tokens < 2:
		return o, fmt.Errorf("%d tokens; want at least 2", o.tokens)
	case o.mockCore >= 0 && o.mockCore == o.clientCore:
		return o, fmt.Errorf("core %d for both the mock server and the client; want two cores", o.mockCore)
	}
	return o, nil
}

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
