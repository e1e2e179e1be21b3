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
