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
// With -bench, Main checks the configuration. The configuration of each target is printed before
// its results. In the lines of results of benchmarks under [Run] or [Watch], the figures are in the
// order of [Units]. The metadata of a unit is printed before the first line that has the unit.
// Main returns 1 if a benchmark under Run or Watch failed in any -count sample; the testing
// package itself only notices a failure in the first.
//
// After the results comes a table of them for people, and a line that sums them up. Both are on
// standard error, or on the standard error of the go command, which gives a test binary its standard output for both. Where
// these are one file, both are comments after the results. On a terminal the progress is shown too.
// LLMBENCH_PROGRESS says otherwise.
//
// After an interrupt (Ctrl-C) or SIGTERM the current pass is given up, its records are written,
// and the remaining benchmarks fail at once. A second signal ends the process.
func Main(m *testing.M) int { return process.Main(m, resultline.Attach) }

// Announce prints the configuration lines of t before the results of b. [Run] calls it;
// benchmarks that measure a server in another way call it themselves. It returns an error if
// the configuration differs from an earlier -count sample of b.
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

// Skip skips b as [testing.B.Skip] does, and prints the reason as a comment among the results.
// The testing package prints the reasons of skipped benchmarks with -v only.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.Skip(b, reason)
}

// Note prints a text at once, as a comment among the results of a benchmark. The testing package
// prints what a benchmark logs when the benchmark has ended. Where nothing can be printed, as in a
// test, Note logs the text.
func Note(tb testing.TB, text string) {
	tb.Helper()
	process.Note(tb, text)
}

// Watch makes [Main] return 1 if tb fails. The testing package forgets failures of a benchmark's
// second and later -count samples. Watch also makes Main print the metadata of the units that tb
// reports. [Run] calls Watch; a benchmark that may fail before Run must call it first, and so must
// a benchmark that reports figures without Run.
func Watch(tb testing.TB) { process.Watch(tb) }

// Context returns a context that ends with tb, and also when the process receives a signal that
// [Main] catches; its cause then is "interrupted". It ends as well if another shard is lost.
func Context(tb testing.TB) context.Context { return process.Context(tb) }
