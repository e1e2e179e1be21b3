// Verdict checks what a benchmark says about its own figures. It runs BenchmarkServe
// many times, on a client that has a core for itself and on clients that share their
// core with busy loops, and compares each figure with the log of the mock server.
//
// The mock server is a process of its own on another core. Its log has the instant
// at which it wrote each token, so that each figure is known as a client without
// delays of its own would have measured it. The truth is computed by the definitions
// of the client:
//
//   - t0 of a request is the instant at which the request reached the server: when
//     the client had written it, or when the server's handler began, whichever was
//     first.
//   - The instant of a token is just before the server's write call.
//   - A rate is that of workers which begin as planned, and send the next request as
//     soon as the server has written the end of the answer before.
//
// A run is refused if the benchmark withholds a figure. Verdict checks three promises:
//
//   - No figure that is shown differs from the truth by more than 5 %.
//   - At most 2 of 100 runs are refused although all their figures, those withheld
//     too, are within 2 % of the truth.
//   - In 90 of 100 runs client-err-% is within a factor of 2 of the largest true error
//     of a figure, or both are at most 2 %.
//
// The exit status is 0 if the promises hold, 1 if one is broken, and 2 if the runs
// could not be made. The machine needs two idle cores, Linux and taskset.
//
// Usage:
//
//	go run ./.ci/verdict [flags]
//
// The runs of all combinations of -streams and -loops take turns. Verdict writes a
// JSON line for each run to results.jsonl in the folder of -dir, with the value, the
// truth and the error of each figure. With -keep the folder also gets the output of
// the benchmark, its records and the server's log. 100 runs take about 20 minutes.
package main

import (
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

	"golang.org/x/sys/unix"
)

// options are the command line.
type options struct {
	runs                 int
	streams, loops       []int
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
	o := options{streams: []int{64, 256, 1000}, loops: []int{0, 1, 2, 3, 7}}
	cores, err := allowedCores()
	if err != nil {
		return o, err
	}
	fs := flag.NewFlagSet("verdict", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&o.runs, "runs", 100, "`number` of runs")
	fs.Func("streams", "comma-separated `numbers` of concurrent streams (64,256,1000)", list(&o.streams, 1))
	fs.Func("loops", "comma-separated `numbers` of busy loops on the client's core (0,1,2,3,7)", list(&o.loops, 0))
	fs.IntVar(&o.waves, "waves", 4, "`number` of requests that each stream sends")
	fs.IntVar(&o.tokens, "tokens", 80, "`number` of tokens in an answer, 20 ms apart")
	fs.IntVar(&o.mockCore, "mock-core", cores[0], "`core` of the mock server; the default is the first that may be used")
	fs.IntVar(&o.clientCore, "client-core", cores[1], "`core` of the client and of the busy loops; the default is the second that may be used")
	fs.StringVar(&o.dir, "dir", ".ci/cache/verdict", "`folder` of the results")
	fs.BoolVar(&o.keep, "keep", false, "also keep the output and the records of the benchmark, and the log of the server")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	case o.runs < 1 || o.waves < 1:
		return o, fmt.Errorf("%d runs of %d waves; want at least 1 of 1", o.runs, o.waves)
	case o.tokens < 2:
		return o, fmt.Errorf("%d tokens; want at least 2", o.tokens)
	case o.mockCore == o.clientCore:
		return o, fmt.Errorf("core %d for both the mock server and the client; want two cores", o.mockCore)
	}
	return o, nil
}

// maxCores is the number of cores that a CPUSet can have.
const maxCores = 1024

// allowedCores returns the cores that this process may use, at least two.
func allowedCores() (all []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("the cores that may be used: %w", err)
	}
	for i := range maxCores {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("cores that may be used: %d; want two", len(all))
	}
	return all, nil
}

// list returns the function of a flag that is a list of numbers.
func list(to *[]int, least int) func(string) error {
	return func(text string) error {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < least {
				return fmt.Errorf("%q; want numbers of at least %d", part, least)
			}
			*to = append(*to, n)
		}
		return nil
	}
}
