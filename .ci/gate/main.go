// Gate tests "benchgate ab". It compares versions of this repository whose differences are known, many times,
// and checks the verdicts of benchgate. Eight kinds of comparisons take turns:
//
//   - equal: both versions are the same. BenchmarkServe runs against the mock server.
//   - slower: in the new version, the mock server needs 5 % more time per token.
//   - row: there are eight benchmarks. In the new version, one of them needs 5 % more time per token. Another
//     one is noisy on both sides: its time per token varies between processes with a standard deviation of 4 %.
//   - gateway: in the new version, the gateway of scenarios/example waits 3 ms before it forwards a request.
//     The benchmark measures the gateway together with the server behind it, as the gateway's users would.
//   - build-equal, build-delay, build-cpu: benchgate ab -build compares versions of a gateway in a repository
//     with 20 commits. It compares a commit with its parent. Most commits change nothing, one adds 5 ms of work
//     to a request, and one doubles the CPU time of a request without a longer latency.
//   - bisect: benchgate bisect searches 30 commits of the gateway, of which one adds about 4 % to the TTFT. The
//     verdict is right if that commit is named. The column "rounds" has the pairs of the search.
//
// The versions are made from HEAD, in a clone in a temporary folder. Uncommitted changes are ignored. Each
// benchmark has three gated units. With -build, a file of -units gates the CPU time as well; build-cpu can only be found by
// its CPU time. The other regressions of gateways may be found by their TTFT, throughput or CPU time.
//
// Usage:
//
//	go run ./.ci/gate [flags]
//
// Gate prints a line for each comparison when it ends. At the end, or after Ctrl-C, it prints a table of all
// verdicts, rounds and times. The lines and the table also go to results.txt in the folder of -dir. The same
// folder gets the samples and the reports of each comparison. A verdict is
//
//	right   for equal versions: pass; otherwise: a regression of what is slower, and of nothing else
//	noisy   cannot judge, only because of noise
//	missed  pass, although the new version is slower
//	wrong   a regression of what is not slower, or anything else
//
// The times include the builds, and the first builds are slow. The exit status is 0 if no verdict is wrong or
// missed, 1 if one is, and 2 if the comparisons could not be made. The machine should be idle.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// options holds the flags of the command line.
type options struct {
	counts map[kind]*int
	n, max int
	units  string
	dir    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var all []comparison
	if err == nil {
		all, err = o.compareAll(ctx, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "gate:", err)
		return 2
	}
	for _, c := range all {
		if c.finding == wrong || c.finding == missed {
			return 1
		}
	}
	return 0
}

// parse parses the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{counts: map[kind]*int{}}
	fs := flag.NewFlagSet("gate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	o.counts[equal] = fs.Int("equal", 20, "`number` of comparisons of equal versions")
	o.counts[slower] = fs.Int("slower", 10, "`number` of comparisons with a version whose tokens are all slower")
	o.counts[row] = fs.Int("row", 10, "`number` of comparisons with a version of which one benchmark is slower and another one noisy")
	o.counts[gateway] = fs.Int("gateway", 10, "`number` of comparisons with a gateway that needs 3 ms more")
	o.counts[buildEqual] = fs.Int("build-equal", 10, "`number` of comparisons of servers of equal commits")
	o.counts[buildDelay] = fs.Int("build-delay", 10, "`number` of comparisons with a server that needs 5 ms more a request")
	o.counts[buildCPU] = fs.Int("build-cpu", 10, "`number` of comparisons with a server that needs twice the CPU time")
	o.counts[bisection] = fs.Int("bisect", 0, "`number` of bisections of 30 commits; each takes some minutes")
	fs.StringVar(&o.units, "units", "", "`file` of margins, as of benchgate ab, such as benchgate aa prints on this machine")
	fs.IntVar(&o.n, "n", 10, "`count` of samples of each side, as of benchgate ab")
	fs.IntVar(&o.max, "max", 0, "maximum `count` of samples of each side, as of benchgate ab (default -n)")
	fs.StringVar(&o.dir, "dir", ".ci/cache/gate", "`folder` of the results; results of an earlier run in it are deleted")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	}
	for name, count := range o.counts {
		if *count < 0 {
			return o, fmt.Errorf("-%s: %d: want at least 0", name, *count)
		}
	}
	var err error
	if o.units != "" {
		o.units, err = filepath.Abs(o.units)
	}
	if err == nil {
		o.dir, err = filepath.Abs(o.dir)
	}
	return o, err
}

// compareAll makes all comparisons. It prints a line for each, and a table at the end. If ctx ends, it stops
// early.
func (o options) compareAll(ctx context.Context, stdout io.Writer) (all []comparison, err error) {
	for _, old := range []string{"results.txt", "runs"} {
		if err := os.RemoveAll(filepath.Join(o.dir, old)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(o.dir, "results.txt"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := io.MultiWriter(stdout, file)

	r, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.remove()
	fmt.Fprintln(w, heading)
	for _, k := range o.order() {
		c, err := r.compare(ctx, o, k, filepath.Join(o.dir, "runs", fmt.Sprintf("%03d-%s", len(all)+1, k)))
		if ctx.Err() != nil {
			fmt.Fprintln(w, "interrupted")
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		fmt.Fprintln(w, c.line(len(all)))
	}
	fmt.Fprintf(w, "\n%s", table(all))
	return all, nil
}

// order returns the kind of each comparison. The kinds are evenly mixed.
func (o options) order() (all []kind) {
	done := map[kind]int{}
	for {
		next, least := kind(""), 2.0
		for _, k := range kinds {
			if share := (float64(done[k]) + 0.5) / float64(*o.counts[k]); done[k] < *o.counts[k] && share < least {
				next, least = k, share
			}
		}
		if next == "" {
			return all
		}
		done[next]++
		all = append(all, next)
	}
}
