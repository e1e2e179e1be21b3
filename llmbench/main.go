package llmbench

import (
	"strconv"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/priority"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
)

// Main runs m's tests and benchmarks and returns the exit code for [os.Exit]:
//
//	func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
//
// With -bench, Main checks the configuration, and adds to the output of package testing. It prints the
// configuration of each target before the target's results. It prints the metadata of a unit before the
// first result line with that unit. Result lines of benchmarks that call [Run] list their
// metrics in the order of [Units]. Main returns 1 if such a benchmark failed in any -count sample, if
// results could not be written to standard output, or if there are no results because nothing could be judged.
// Package testing itself only notices a failure in the first sample, and no lost result. Main says so if no benchmark
// matches the pattern of -bench. In a program of its own, whose name does not end with ".test", Main then returns 2.
//
// After the results, Main prints a table of the results for people, and a summary line. Both go to standard
// error. The go command connects the standard error of a test binary to its own standard output, so Main
// writes to the standard error of the go command instead. If standard output and standard error are the
// same file, the table and the summary are comments after the results. On a terminal, Main also shows the
// progress. The variable LLMBENCH_PROGRESS changes what is shown.
//
// After an interrupt (Ctrl-C) or SIGTERM, a pass of [Run] sends no further requests, and those in flight have five seconds to
// end; a session that has begun has them for all its turns. If they do, the table has the figures of the requests that were
// sent; the benchmark fails all the same. Otherwise, and if several processes measure together, the pass is given up. Its
// records are written, and the remaining benchmarks fail at once. A second signal, at least a second later, ends the process immediately.
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
	cfg, err := process.ReadConfig()
	if err != nil {
		return err
	}
	config := t.settings(cfg)
	if p := t.place(cfg); p != "" {
		if _, why := best(); p == priority.None {
			process.AtEnd(b, "LLMBENCH_PRIORITY=auto changes nothing: "+why)
		}
	}
	if n := shards(); n > 0 {
		config["shards"] = strconv.Itoa(n)
	}
	return process.Configure(b.Name(), config)
}

// CannotJudge skips b because what was measured does not decide the question of b. An example is a search for the
// highest load, if the client is too slow to tell. It prints the reason as a comment among the results, and in the
// table at the end, where b does not count as failed. The benchmark fails if LLMBENCH_CLIENT_BOUND is fail.
func CannotJudge(b *testing.B, reason string) {
	b.Helper()
	process.CannotJudge(b, reason)
}

// Benchmarks returns the names of the benchmarks that this process runs, such as "BenchmarkServe", in their order. It
// returns nil if they are unknown: if [Main] was not called for benchmarks, or with the flag -skip.
func Benchmarks() []string { return process.Benchmarks() }

// shards returns the number of processes that measure together, or 0 if this process measures alone.
func shards() int {
	if g := process.Group(); g != nil && g.Count > 1 {
		return g.Count
	}
	return 0
}
