package llmbench

import (
	"context"
	"strconv"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
)

// Main runs m's tests and benchmarks and returns the exit code for [os.Exit]:
//
//	func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
//
// With -bench, Main checks the configuration, and adds to the output of package testing. It prints the
// configuration of each target before the target's results. It prints the metadata of a unit before the
// first result line with that unit. Result lines of benchmarks that call [Run] or [Watch] list their
// metrics in the order of [Units]. Main returns 1 if such a benchmark failed in any -count sample, if
// results could not be written to standard output, or if there are no results because nothing could be judged.
// Package testing itself only notices a failure in the first sample, and no lost result. In a program of its own, whose name does not end with ".test", Main returns 2 if
// no benchmark matches the pattern of -bench.
//
// After the results, Main prints a table of the results for people, and a summary line. Both go to standard
// error. The go command connects the standard error of a test binary to its own standard output, so Main
// writes to the standard error of the go command instead. If standard output and standard error are the
// same file, the table and the summary are comments after the results. On a terminal, Main also shows the
// progress. The variable LLMBENCH_PROGRESS changes what is shown.
//
// After an interrupt (Ctrl-C) or SIGTERM, the current pass is given up, its records are written, and the
// remaining benchmarks fail at once. A second signal ends the process immediately.
func Main(m *testing.M) int { return process.Main(m, resultline.Attach) }

// Announce prints the configuration lines of t before the results of b. [Run] calls Announce. A benchmark
// that measures a server without Run should call it itself. Announce returns an error if the configuration
// differs from an earlier -count sample of b.
func Announce(b *testing.B, t Target) error {
	b.Helper()
	announceSalt(b, t)
	speed := ""
	if t.Truth != nil {
		speed = t.Truth.Speed
	}
	process.Speed(b.Name(), speed)
	config := t.config()
	if n := shards(); n > 0 {
		config["shards"] = strconv.Itoa(n)
	}
	return process.Configure(b.Name(), config)
}

// Skip skips b as [testing.B.Skip] does, and prints the reason as a comment among the results. Package
// testing prints the reason only with -v.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.Skip(b, reason)
}

// CannotJudge skips b because what was measured does not decide the question of b. An example is a search for the
// highest load, if the client is too slow to tell. It prints the reason as a comment among the results, and in the
// table at the end, where b does not count as failed. The benchmark fails if LLMBENCH_CLIENT_BOUND is fail.
func CannotJudge(b *testing.B, reason string) {
	b.Helper()
	process.CannotJudge(b, reason)
}

// Note prints a text immediately, as a comment among the results of a benchmark. Package testing would
// print a logged text only when the benchmark has ended. Where nothing can be printed, as in a test, Note
// logs the text.
func Note(tb testing.TB, text string) {
	tb.Helper()
	process.Note(tb, text)
}

// Benchmarks returns the names of the benchmarks that this process runs, such as "BenchmarkServe", in their order. It
// returns nil if they are unknown: if [Main] was not called for benchmarks, or with the flag -skip.
func Benchmarks() []string { return process.Benchmarks() }

// Watch makes [Main] return 1 if tb fails in any -count sample, because package testing forgets failures of
// a benchmark's second and later samples. Watch also makes Main print the metadata of the units that tb
// reports. [Run] calls Watch. A benchmark that may fail before it calls Run must call Watch first, and so
// must a benchmark that reports metrics without Run.
func Watch(tb testing.TB) { process.Watch(tb) }

// Context returns a context that is canceled when tb ends, or when the process receives a signal that
// [Main] catches. In the second case its cause is "interrupted". If several processes measure together, the
// context is also canceled when the connection to another process is lost.
func Context(tb testing.TB) context.Context { return process.Context(tb) }
