package harness

import (
	"context"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Watch makes llmbench.Main return 1 if tb fails in any -count sample, because package testing forgets failures of
// a benchmark's second and later samples. Watch also makes Main print the metadata of the units that tb reports. A
// benchmark that may fail before it calls llmbench.Run must call Watch first, and so must a benchmark that reports
// metrics without Run.
func Watch(tb testing.TB) { process.Watch(tb) }

// Context returns a context that is canceled when tb ends, or when the process receives a signal that
// llmbench.Main catches. In the second case its cause is "interrupted". If several processes measure together, the
// context is also canceled when the connection to another process is lost.
func Context(tb testing.TB) context.Context { return process.Context(tb) }

// Note prints a text immediately, as a comment among the results of a benchmark. Package testing would
// print a logged text only when the benchmark has ended. Where nothing can be printed, as in a test, Note
// logs the text.
func Note(tb testing.TB, text string) {
	tb.Helper()
	process.Note(tb, text)
}

// Tell shows a line once to the person who reads the progress and the table, apart from the results. It shows nothing
// where there is no such place, as in a test; see LLMBENCH_PROGRESS.
func Tell(text string) { process.Tell(text) }

// Loads says that a benchmark measures n loads one after another, in sub-benchmarks of its own. When the first of them
// has been warmed up, a line for the person who waits says about how long all of them take.
func Loads(b *testing.B, n int) { process.Loads(b.Name(), n) }

// Report reports a metric of b as [testing.B.ReportMetric] does, and also gives it to the page of LLMBENCH_REPORT. Like
// ReportMetric, it must be called after the last call of b.Loop.
func Report(b *testing.B, value float64, unit string) { process.Report(b, value, unit) }

// AtEnd prints a text once, as a comment after all results, where it is among the last lines. If llmbench.Main was not
// called, AtEnd logs the text.
func AtEnd(b *testing.B, text string) {
	b.Helper()
	process.AtEnd(b, text)
}

// Skip skips b as [testing.B.Skip] does, and prints the reason as a comment among the results. Package
// testing prints the reason only with -v.
func Skip(b *testing.B, reason string) {
	b.Helper()
	process.Skip(b, reason)
}
