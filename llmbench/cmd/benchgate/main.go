// Benchgate decides whether new benchmark results are worse than old ones by more
// than is allowed. Its exit status is the decision. Package gate describes how it
// decides.
//
// Usage:
//
//	benchgate [flags] old new
//	benchgate -col key [flags] file
//	benchgate [flags] file
//	benchgate ab -base commit [flags] -- -bench regexp [go test flags] [packages]
//	benchgate ab -base commit -build command -command command [flags] -- -bench regexp …
//	benchgate ab -base-url URL -head-url URL [flags] -- -bench regexp …
//	benchgate ab -base-image image -head-image image [flags] -- -bench regexp …
//	benchgate aa [flags] -- -bench regexp [go test flags] [packages]
//	benchgate bisect -good commit -bad commit -build command -command command [flags] -- -bench regexp …
//	benchgate convert [-to format] [-out folder] [-max-fail share] file...
//	benchgate history command [flags]
//	benchgate version
//
// The first form compares two files. Each file is the whole output of go test -bench,
// or of test binaries, one run after another. Each run is a fresh process, old and new
// in turn, eight or ten of each. Or old and new are the result files of another tool, such as
// vLLM's: a file, a pattern in quotes or a folder, in which each file is a sample. Package
// resultfile lists the tools and their figures. The flags are:
//
//	-added allow|fail       the policy for rows that only new has: show them and judge the
//	                        others, or the verdict is "cannot judge" (allow)
//	-alpha probability      limit the probability that equal versions end in a
//	                        regression (0.025)
//	-col key                compare results of one file, see below
//	-format text|md|json    the format of the report; md suits $GITHUB_STEP_SUMMARY
//	-ignore keys            allow these configuration keys to differ, a comma-separated
//	                        list, besides branch, commit, commit-time, date, go and
//	                        toolchain; /gomaxprocs is the suffix of names
//	-max-fail share         tolerate this share of failed requests, 0 to 1, in the files of
//	                        other tools; otherwise such a file is no sample (0)
//	-one-start              count results of one process, as of go test -count=10, as
//	                        samples of their own; otherwise the results of a process are
//	                        one sample, their mean, and one process cannot be judged
//	-partial                accept runs that did not end in PASS, as in files that were
//	                        filtered, converted or published
//	-removed allow|fail     the policy for rows that only old has, as of -added (fail); if
//	                        nothing is left to judge, benchgate cannot judge either way
//	-require pass|no-worse  what every gated row must be for status 0: pass, the default,
//	                        or no-worse, so that rows of which nothing is shown do not
//	                        suffice
//	-units file             also read Unit lines from this file; its margins override
//	                        those in the results
//	-v                      print all rows in text, with p-values and intervals, and not
//	                        only the rows that decide
//
// The exit status is 0 for pass, 1 for a regression, and 2 if benchgate cannot judge:
// if a file cannot be read or was truncated, a row was removed, machines or models
// differ, there are too few samples, no unit is gated, or the usage is wrong. It prints
// the reason.
//
// The verdict of a row is "no worse" if the samples show that it is worse by at most its
// margin, or better. It is "pass" if they show neither that nor a regression. But if its noise is
// more than its margin, or the samples are too few to show a change that looks like a
// regression, benchgate cannot judge.
//
// # Results of one file
//
// With -col, benchgate compares results of one file with each other, such as a gateway
// with the server behind it, or a quantized model with the full one. The key states what
// differs between old and new; everything else must be equal. It is a /key of benchmark
// names, the key of a configuration line, or .name for the benchmark itself, as for
// benchstat -col:
//
//	benchgate -col /via results.txt
//	benchgate -col '/via@(direct gateway)' results.txt
//	benchgate -col '.name@(Direct Gateway)' results.txt
//
// The value that comes first in the file is old, unless the values are listed, old first.
// Results with another value, or without the key, are left out; the last line counts them.
// Results of llmbench.Arms, which measures several targets in turns, are judged as pairs.
//
// # Budgets
//
// With one file and no -col, benchgate judges the budgets of units, which need no old results:
//
//	Unit p99-ttft-ns better=lower max=2ms
//	Unit output-tok/s better=higher min=500
//
// The median is a regression if it is shown to exceed its budget, passes if it is shown to keep it, and cannot be judged
// if its confidence interval has the budget within it. Comparisons of two sides judge the budgets of new, too.
//
// # Withheld figures
//
// A result may lack a gated figure because the program that wrote it did not trust the figure. Units such as bursts-% say
// why, and Unit lines with withheld= say whose doing it is. If results of new have a reason of the server more often than
// chance explains, that is a regression; if the reason is the client's, benchgate cannot judge. benchgate ab tests that
// after each round: all new results and no old ones are enough after eight rounds.
//
// # Files of other tools
//
// benchgate convert writes the result files of other tools in Go benchmark format, which benchstat
// reads, and notes on the files to standard error:
//
//	benchgate 'old/*.json' 'new/*.json'
//	benchgate convert 'old/*.json' >old.txt
//
// It has these further flags:
//
//	-to format              write results for a dashboard instead, see below (go)
//	-out folder             write the files of github-action-benchmark or llm-d-report
//	                        to this folder
//
// The formats are medians of the samples, except for llm-d-report and csv, which have each sample:
//
//	github-action-benchmark  customSmallerIsBetter.json and customBiggerIsBetter.json in the folder of -out, for
//	                         the tools of these names: throughput is only in the second
//	bencher                  Bencher Metric Format, with the least and the most
//	llm-d-report             a Benchmark Report 0.2 for each sample, in the folder of -out
//	csv                      a line for each value of each sample
//	junit                    a verdict as test results, from a report of -format=json
//
// # A commit against the working tree
//
// benchgate ab takes the samples itself. It writes the files of the commit to a folder and
// compiles the tests of both versions. Then it runs the binaries in turn, each sample
// in a fresh process. The order of the two in each round is random. The arguments
// after -- are passed to go test. The base may lack the packages, their benchmarks or the
// whole module: then these are new, and pass. There are these further flags:
//
//	-base commit            the commit to compare the working tree with
//	-n count                take this number of samples of each side, unless the verdict is
//	                        known earlier (10)
//	-max count              go on to at most this number of samples of each side while rows
//	                        are undecided (default: -n)
//	-out folder             keep the samples in this folder, and continue with the samples
//	                        in it, which must be of the same versions, flags and variables
//	                        (default: a new temporary folder)
//	-seed number            the seed of the random order (default: random, or the seed of the
//	                        samples in the folder); benchgate prints it
//	-timeout time           the maximum time of one process (1h)
//
// benchgate first prints how many rounds there may be, and reports each round on stderr with
// the time that is left at most. Ctrl-C ends benchgate with status 2 and keeps
// the samples; the same command with -out continues. The folder also has base.txt and
// head.txt, which benchstat can read, and report.txt, report.md and report.json. A
// second Ctrl-C kills the running processes. (If benchgate itself is killed by SIGKILL,
// "go tool" still exits with status 0. Where that can happen, run the program that "go
// tool -n benchgate" prints.)
//
// benchgate ab looks for regressions after eight tenths of -n rounds, after -n rounds and, if
// -max is larger, after each further two fifths up to -max. Every look but the last may spend a
// fifth of alpha (less if there are more than five), and the last one spends the rest. So all
// looks together have a false alarm with a probability of at most alpha
// (https://en.wikipedia.org/wiki/Bonferroni_correction). There is no look before the end whose
// part of alpha is too little for the number of samples: 0.005 needs eight.
//
// benchgate ab ends early at a problem that further samples cannot solve, at a regression, and
// when no row is undecided. A row is decided if it is shown to be no worse at a look, or if it
// could not become a regression even if all further samples were worse.
//
// A row cannot be judged if it is no regression and its noise is more than its margin, because
// a pass would be meaningless. The report names the row, and about how many samples it needs.
// The verdict is then "cannot judge", unless another row is a regression. With six rounds only one
// gated row can be judged; more rows need seven.
//
// # Two servers
//
// benchgate ab also compares servers, with the same benchmarks for both:
//
//	-build command          a shell command that builds the server of each side into {out}. It runs in
//	                        the files of the base, with tags of the repository, and of the
//	                        working tree; if that has changes, in the working tree itself
//	-command command        the command that starts the server of -build, as in LLMBENCH_COMMAND: {out} is
//	                        the folder with what was built, {port} the port to listen on, {data} a
//	                        new folder (default: the command in LLMBENCH_COMMAND)
//	-base-url URL           the base is the server that runs at this URL
//	-head-url URL           the head is the server that runs at this URL
//	-base-image image       the base is the server in LLMBENCH_BACKEND, in a container of this image
//	-head-image image       the head is the same server in a container of this image
//	-bench-from place       where the benchmarks come from: head, the working tree; base, the commit of
//	                        -base; a folder of another module, in which the packages after -- are; or
//	                        the file of a test binary, which runs in the working directory (head)
//
// Each sample of -build and of images starts its server anew. The benchmarks get LLMBENCH_BACKEND,
// LLMBENCH_COMMAND and LLMBENCH_BUILD, or LLMBENCH_URL, or LLMBENCH_IMAGE, for their side, so they must be
// benchmarks that measure what these variables name, such as BenchmarkServe of package scenarios. Samples whose
// results do not say so end the comparison. Configuration lines must be equal, apart from
// server-version and, of URLs, server and router, of images, image, image-digest and image-checked. The line command has {out} and not the
// folder. The last line of the report names commits, URLs or images, the command and the versions of the servers.
//
// What -build has built of a commit is kept in the folder llmbench/ab of the user's cache folder, or in ab
// in LLMBENCH_CACHE, and used again for the same commit, command, compilers and
// variables such as PATH and CFLAGS. A failed build and a working tree with changes are
// not kept, nor a build that was not used for 30 days. The server must need nothing but {out} at run time:
// the files of a commit are removed at the end. The whole output of a build is in
// base-build.txt and head-build.txt in the folder of samples. All files in {out} of both sides are read once before the
// first round, so that none has to be read from the disk; a model is not.
//
// # The first commit that is worse
//
// benchgate bisect finds the first commit whose server is worse than allowed, among the commits after a good one
// up to a bad one. Of a merge, only the first parent counts:
//
//	benchgate bisect -good v1.4.0 -bad main -build command -command command -- -bench=Chat -benchtime=1x ./scenarios
//
// First it compares the bad commit with the good one, as benchgate ab does. It follows the row that is most clearly
// worse. Then it measures one commit after another in pairs with the good one: each time the commit whose result is
// expected to tell most for the time that it takes, with its build. As soon as one commit is the first worse one with
// a probability of 90 %, that commit is measured in pairs with its parent. The search ends when these pairs show that
// the commit is worse than its parent by more than the margin. Package bisect describes the method and what it cites.
// The probability that a commit is named which is not worse than its parent by more than the margin is at most -alpha,
// over all pairs and steps together.
//
// The flags -build, -command, -bench-from, -units, -ignore, -alpha, -seed, -timeout and -format are as above, and:
//
//	-good commit            a commit that is not worse than allowed, an ancestor of -bad
//	-bad commit             a commit that is worse than allowed (HEAD)
//	-n count                as for ab, for the good and the bad commit (10)
//	-max count              as for ab (50)
//	-pairs count            the largest number of further pairs (300)
//	-out folder             keep the samples and the state in this folder, and continue with them
//
// A commit that cannot be built, that fails twice, or whose results cannot be compared is skipped. The report has each
// commit with its probability, its change from the good commit and the number of its pairs. The exit status is 0 if a
// commit is named. It is 2 if benchgate cannot judge: if the bad commit is not shown to be worse, if the noise allows no
// answer within -pairs, if the commits before the first worse one cannot be measured, or after Ctrl-C; the same
// command with -out continues.
//
// # The working tree against itself
//
// benchgate aa runs one binary as both sides, for all -n rounds, with the same flags
// except -base and -max. It prints a file for -units: how much the medians of equal versions
// differ on this machine, and margins that are wider. Its exit status is the result of
// comparing the samples with these margins.
//
// # Over time
//
// benchgate history keeps the results of many runs in a folder, one file per run. No file is ever changed, and
// several processes may add files at once. The commands are:
//
//	add [file...]   keep the results of one run: files as above, or standard input
//	check           say whether the newest run of each machine is out of line: status 1 is an alarm, 2 "cannot judge"
//	ack run...      accept the results of runs as they are, so that check no longer reports their changes
//	changes         print where units changed in the whole history
//	log             print a line for each run
//	prune           print the names of runs that may be deleted; -f deletes the files whose names follow
//	show            show all series and what changed, as text or as a page (-o); -atom writes a feed
//
// Each has the flag -dir for the folder (benchhistory), and -help lists the others. With -git the folder is in a branch
// of the repository: each command fetches the branch of origin, or of -remote, and pushes what it has changed. The
// working tree stays as it is. If others push at the same time, the command tries again.
//
// # Margins
//
// Unit lines of the benchmark format state which units are gated, and with which
// margin. They stand in the results or in the file of -units, which may contain nothing
// else but comments that begin with #:
//
//	Unit output-tok/s better=higher gate=2%
//	Unit p50-ttft-ns better=lower gate=5%
//	Unit ns/op gate=5%
//
// If no unit has a margin, ns/op, MB/s, B/op and allocs/op may be 5% worse, and the verdict says so.
//
// # Examples
//
// The new version takes 6 % longer for each token at a concurrency of eight:
//
//	$ benchgate old.txt new.txt; echo $?
//	regression: 2 of 6 rows, above all time per output token, mean, at 8 users: +5.61% (margin 2%)
//
//	new.txt against old.txt
//	backend: vllm
//	gpu: H100
//	goos: linux
//	goarch: amd64
//	cpu: AMD EPYC
//	pkg: example.com/serving
//	all: Chat/backend=vllm/model=yi-6b-chat
//
//	                                                  old           new  change   allowed  verdict
//	time per output token, mean, at 8 users  9.081ms ± 1%  9.591ms ± 1%  +5.61%  2% worse  REGRESSION
//	output tokens per second at 8 users        859.6 ± 1%    811.9 ± 2%  -5.55%  2% worse  REGRESSION
//	time per output token, mean, at 1 user   8.455ms ± 1%  8.416ms ± 1%  -0.46%  2% worse  no worse
//	output tokens per second at 1 user         117.8 ± 1%    118.4 ± 2%  +0.51%  2% worse  no worse
//	time to first token, p50, at 8 users     44.43ms ± 3%  44.70ms ± 2%  +0.63%  5% worse  no worse
//	time to first token, p50, at 1 user      31.56ms ± 1%  30.93ms ± 4%  -2.01%  5% worse  no worse
//
//	-v also prints 4 rows without a margin, with p-values and intervals
//	regression: 2 of 6 rows, above all time per output token, mean, at 8 users: +5.61% (margin 2%)
//	1
//
// The results come from another machine:
//
//	$ benchgate old.txt a100.txt; echo $?
//	cannot judge: Chat/backend=vllm/model=yi-6b-chat/concurrency=1-8 and 1 more: gpu is A100, but H100 in old.txt: want results of equal configuration (benchgate -ignore=gpu accepts that)
//
//	a100.txt against old.txt
//	backend: vllm
//	goos: linux
//	goarch: amd64
//	cpu: AMD EPYC
//	pkg: example.com/serving
//	all: Chat/backend=vllm/model=yi-6b-chat
//
//	                                                  old           new  change   allowed  verdict
//	output tokens per second at 8 users        859.6 ± 1%    859.9 ± 1%  +0.03%  2% worse  cannot judge
//	time per output token, mean, at 8 users  9.081ms ± 1%  9.069ms ± 2%  -0.14%  2% worse  cannot judge
//	output tokens per second at 1 user         117.8 ± 1%    118.3 ± 2%  +0.47%  2% worse  cannot judge
//	time per output token, mean, at 1 user   8.455ms ± 1%  8.389ms ± 3%  -0.78%  2% worse  cannot judge
//	time to first token, p50, at 8 users     44.43ms ± 3%  44.50ms ± 2%  +0.18%  5% worse  cannot judge
//	time to first token, p50, at 1 user      31.56ms ± 1%  30.78ms ± 3%  -2.48%  5% worse  cannot judge
//
//	  a100.txt:14: Chat/backend=vllm/model=yi-6b-chat/concurrency=1-8, Chat/backend=vllm/model=yi-6b-chat/concurrency=8-8: gpu is A100, but H100 in old.txt: want results of equal configuration (benchgate -ignore=gpu accepts that)
//	-v also prints 4 rows without a margin, with p-values and intervals
//	cannot judge: Chat/backend=vllm/model=yi-6b-chat/concurrency=1-8 and 1 more: gpu is A100, but H100 in old.txt: want results of equal configuration (benchgate -ignore=gpu accepts that)
//	2
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/convert"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/files"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/historycmd"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/measure"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/version"
)

const usage = "usage: benchgate [flags] old new\n" +
	"       benchgate -col key [flags] file\n" +
	"       benchgate [flags] file\n" +
	"       benchgate ab -base commit [flags] -- -bench regexp [go test flags] [packages]\n" +
	"       benchgate ab -base commit -build command -command command [flags] -- -bench regexp …\n" +
	"       benchgate ab -base-url URL -head-url URL [flags] -- -bench regexp …\n" +
	"       benchgate ab -base-image image -head-image image [flags] -- -bench regexp …\n" +
	"       benchgate aa [flags] -- -bench regexp [go test flags] [packages]\n" +
	"       benchgate bisect -good commit -bad commit -build command -command command [flags] -- -bench regexp …\n" +
	"       benchgate convert [-to format] [-out folder] [-max-fail share] file...\n" +
	"       benchgate history command [flags]\n" +
	"       benchgate version\n" +
	"\n" +
	"Benchgate decides whether new benchmark results are worse than old ones by more than is\n" +
	"allowed. It compares two files, or (ab) measures a commit and the working tree or two servers,\n" +
	"or (aa) the working tree and itself. Lines such as \"Unit ns/op better=lower gate=5%\" state what is\n" +
	"allowed; they stand in the results or in the file of -units. Of one file, it judges budgets, as in\n" +
	"\"Unit p99-ttft-ns better=lower max=2ms\".\n" +
	"Old and new may be result files of vLLM, SGLang and other tools: a file, a pattern or a folder.\n" +
	"Exit status: 0 pass, 1 regression, 2 cannot judge.\n"

// commands holds the commands other than the comparison of files.
var commands = map[string]func(args []string, stdout, stderr io.Writer) int{
	"ab": measure.AB, "aa": measure.AA, "bisect": measure.Bisect, "convert": convert.Run,
	"history": func(args []string, stdout, stderr io.Writer) int {
		return historycmd.Run(args, os.Stdin, stdout, stderr)
	},
}

func main() { cli.Main("benchgate", command.CannotJudge, run) }

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if version.Asked(args) {
		io.WriteString(stdout, version.Line("benchgate"))
		return 0
	}
	if len(args) > 0 && commands[args[0]] != nil {
		return commands[args[0]](args[1:], stdout, stderr)
	}
	c := &files.Comparison{}
	c.RequireQuiet = true
	fs := flag.NewFlagSet("benchgate", flag.ContinueOnError)
	c.Flags(fs)
	fs.StringVar(&c.Col, "col", "", "compare results of one file whose names or configuration differ in this `key`, for example /via")
	fs.Func("max-fail", command.MaxFailUsage, command.Share(&c.Files.MaxFail))
	paths, err := cli.Parse(fs, usage, args, stdout, stderr)
	switch {
	case err != nil:
		err = measure.Hint(err, "benchgate ab -base main")
	case c.Col == "" && len(paths) != 1 && len(paths) != 2:
		err = fmt.Errorf("%d files: want two, old and new, or one with budgets; benchgate -help lists the other ways to use it", len(paths))
	case c.Col != "" && len(paths) != 1:
		err = fmt.Errorf("%d files: want one with -col", len(paths))
	}
	if err != nil {
		return command.Ended(stderr, err)
	}
	report, err := c.Compare(paths...)
	if err != nil {
		return command.Fail(stderr, err)
	}
	return c.Print(report, stdout, stderr)
}
