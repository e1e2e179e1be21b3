// Benchgate decides whether new benchmark results are worse than old ones by more
// than is allowed. Its exit status is the decision. Package gate describes how it
// decides.
//
// Usage:
//
//	benchgate [flags] old new
//	benchgate ab -base commit [flags] -- -bench regexp [go test flags] [packages]
//	benchgate aa [flags] -- -bench regexp [go test flags] [packages]
//
// The first form compares two files. Each file is the whole output of go test -bench,
// or of test binaries, one run after another. Each run is a fresh process, old and new
// in turn, eight or ten of each. The flags are:
//
//	-alpha probability      limit the probability that equal versions end in a
//	                        regression (0.025)
//	-format text|md|json    the format of the report; md suits $GITHUB_STEP_SUMMARY
//	-ignore keys            allow these configuration keys to differ, a comma-separated
//	                        list, besides branch, commit, commit-time, date, go and
//	                        toolchain; /gomaxprocs is the suffix of names
//	-units file             also read Unit lines from this file; its margins override
//	                        those in the results
//
// The exit status is 0 for pass, 1 for a regression, and 2 if benchgate cannot judge:
// if a file cannot be read or was truncated, a row is missing, machines or models
// differ, there are too few samples, no unit is gated, or the usage is wrong. It prints
// the reason.
//
// # A commit against the working tree
//
// benchgate ab takes the samples itself. It checks out the commit (git worktree) and
// compiles the tests of both versions. Then it runs the binaries in turn, each sample
// in a fresh process. The order of the two changes from round to round. The arguments
// after -- are those of go test. There are these further flags:
//
//	-base commit            the commit to compare the working tree with
//	-n count                the maximum number of samples of each side (10)
//	-out folder             keep the samples in this folder, and continue with the
//	                        samples in it (default: a new temporary folder)
//	-timeout time           the maximum time of one process (1h)
//
// benchgate reports each round on stderr. Ctrl-C ends benchgate with status 2 and keeps
// the samples; the same command with -out continues. The folder also has base.txt and
// head.txt, which benchstat can read, and report.txt, report.md and report.json. A
// second Ctrl-C kills the running processes. (If benchgate itself is killed by SIGKILL,
// "go tool" still exits with status 0. Where that can happen, run the program that "go
// tool -n benchgate" prints.)
//
// benchgate ab ends early in three cases: at a problem that further samples cannot
// solve; at pass, if no row could become a regression even if all further samples were
// worse; and at a regression that it finds at an interim look, after seven tenths of
// the samples. The interim look spends a fifth of alpha and leaves four fifths for the
// end, so that both looks together have a false alarm with a probability of at most
// alpha (https://en.wikipedia.org/wiki/Bonferroni_correction). There is no interim look
// if a fifth of alpha is too little for the number of samples.
//
// A row cannot pass if its margin is less than the noise of its samples, because such a
// pass would be meaningless. The verdict is then "cannot judge".
//
// # The working tree against itself
//
// benchgate aa runs one binary as both sides, for all -n rounds, with the same flags
// except -base. It prints a file for -units: how much the medians of equal versions
// differ on this machine, and margins that are wider. Its exit status is that of
// comparing the samples with these margins.
//
// # Margins
//
// Unit lines of the benchmark format state which units are gated, and with which
// margin. They stand in the results or in the file of -units:
//
//	Unit output-tok/s better=higher gate=2%
//	Unit p50-ttft-ns better=lower gate=5%
//	Unit ns/op gate=5%
//
// # Examples
//
// The new version takes 6 % longer for each token at a concurrency of eight:
//
//	$ benchgate old.txt new.txt; echo $?
//	new.txt against old.txt
//	backend: vllm
//	gpu: H100
//	goos: linux
//	goarch: amd64
//	cpu: AMD EPYC
//	pkg: example.com/serving
//	all: /backend=vllm/model=yi-6b-chat
//
//	fail-%, lower is better, not gated
//	                             old         new  change      p  n
//	Chat/concurrency=1-8  0.000 ± 0%  0.000 ± 0%  +0.00%  1.000  8
//	Chat/concurrency=8-8  0.000 ± 0%  0.000 ± 0%  +0.00%  1.000  8
//
//	p99-itl-sec, lower is better, not gated
//	                               old           new  change      p  n
//	Chat/concurrency=1-8  9.890m ± 14%  9.297m ± 22%  -6.00%  0.798  8
//	Chat/concurrency=8-8  13.31m ± 15%  13.12m ± 23%  -1.42%  0.798  8
//
//	mean-tpot-sec, lower is better, may be 2% worse
//	                              old          new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  8.455m ± 1%  8.416m ± 1%  -0.46%  0.050  8       +3.7%    1.000  pass
//	Chat/concurrency=8-8  9.081m ± 1%  9.591m ± 1%  +5.61%  0.000  8       +3.6%    0.000  REGRESSION
//
//	output-tok/s, higher is better, may be 2% worse
//	                             old         new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  117.8 ± 1%  118.4 ± 2%  +0.51%  0.150  8       -3.7%    1.000  pass
//	Chat/concurrency=8-8  859.6 ± 1%  811.9 ± 2%  -5.55%  0.000  8       -3.7%    0.000  REGRESSION
//
//	p50-ttft-sec, lower is better, may be 5% worse
//	                              old          new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  31.56m ± 1%  30.93m ± 4%  -2.01%  0.442  8       +9.2%    1.000  pass
//	Chat/concurrency=8-8  44.43m ± 3%  44.70m ± 2%  +0.63%  0.382  8       +9.1%    1.000  pass
//
//	p: two-sided p-value of no change, as in benchstat
//	detectable: the smallest change for the worse that is found in 80% of comparisons with as many and as noisy samples
//	p worse: one-sided p-value of a change by the margin, adjusted for 6 gated cells; at most 0.025 is a regression
//	  Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8 mean-tpot-sec: +5.61%, may be 2% worse
//	  Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8 output-tok/s: -5.55%, may be 2% worse
//	regression: 2 of 6 gated cells worse than allowed
//	1
//
// The results come from another machine:
//
//	$ benchgate old.txt a100.txt; echo $?
//	a100.txt against old.txt
//	backend: vllm
//	goos: linux
//	goarch: amd64
//	cpu: AMD EPYC
//	pkg: example.com/serving
//	all: /backend=vllm/model=yi-6b-chat
//
//	fail-%, lower is better, not gated
//	                             old         new  change      p  n
//	Chat/concurrency=1-8  0.000 ± 0%  0.000 ± 0%  +0.00%  1.000  8
//	Chat/concurrency=8-8  0.000 ± 0%  0.000 ± 0%  +0.00%  1.000  8
//
//	p99-itl-sec, lower is better, not gated
//	                               old           new  change      p  n
//	Chat/concurrency=1-8  9.890m ± 14%  9.856m ± 13%  -0.34%  0.878  8
//	Chat/concurrency=8-8  13.31m ± 15%  13.55m ± 36%  +1.86%  0.878  8
//
//	mean-tpot-sec, lower is better, may be 2% worse
//	                              old          new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  8.455m ± 1%  8.389m ± 3%  -0.78%  0.234  8           -        -  cannot judge
//	Chat/concurrency=8-8  9.081m ± 1%  9.069m ± 2%  -0.14%  0.878  8           -        -  cannot judge
//
//	output-tok/s, higher is better, may be 2% worse
//	                             old         new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  117.8 ± 1%  118.3 ± 2%  +0.47%  0.524  8           -        -  cannot judge
//	Chat/concurrency=8-8  859.6 ± 1%  859.9 ± 1%  +0.03%  0.859  8           -        -  cannot judge
//
//	p50-ttft-sec, lower is better, may be 5% worse
//	                              old          new  change      p  n  detectable  p worse  verdict
//	Chat/concurrency=1-8  31.56m ± 1%  30.78m ± 3%  -2.48%  0.005  8           -        -  cannot judge
//	Chat/concurrency=8-8  44.43m ± 3%  44.50m ± 2%  +0.18%  0.959  8           -        -  cannot judge
//
//	p: two-sided p-value of no change, as in benchstat
//	detectable: the smallest change for the worse that is found in 80% of comparisons with as many and as noisy samples
//	p worse: one-sided p-value of a change by the margin, adjusted for 6 gated cells; at most 0.025 is a regression
//	  a100.txt:14: Chat/backend=vllm/model=yi-6b-chat/concurrency=1-8, Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8: gpu is A100, but H100 in old.txt: want results of equal configuration
//	cannot judge: 0 of 6 gated cells regressed, 0 passed
//	2
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
)

const usage = "usage: benchgate [flags] old new\n" +
	"       benchgate ab -base commit [flags] -- -bench regexp [go test flags] [packages]\n" +
	"       benchgate aa [flags] -- -bench regexp [go test flags] [packages]"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "ab":
			return ab(args[1:], stdout, stderr)
		case "aa":
			return aa(args[1:], stdout, stderr)
		}
	}
	c := &comparison{}
	fs := flag.NewFlagSet("benchgate", flag.ContinueOnError)
	c.flags(fs)
	paths, err := cli.Parse(fs, usage, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && len(paths) != 2:
		err = fmt.Errorf("%d files: want two, old and new", len(paths))
	}
	if err != nil {
		return fail(stderr, err)
	}
	report, err := c.compare(paths[0], paths[1])
	if err != nil {
		return fail(stderr, err)
	}
	return c.print(report, stdout, stderr)
}
