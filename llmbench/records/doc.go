// Package records writes and reads the files in LLMBENCH_OUT. A file has a line about the
// benchmark, then one line for each request, and at last one about how the benchmark ended,
// which older files do not have. Each line is a JSON object.
//
// A [Writer] writes a file, and a [Follower] reads it while it grows. [Open] and [Read] return a
// [Run]: a file in memory, with every instant as it was written, small enough for millions of
// requests. [Run.Figures] computes the figures that the benchmark reported.
//
// Each request is written when it has ended, in the order of the ends. If the process is killed,
// the file has no line about the end, and the last line may be incomplete. Reading leaves such a
// line out, and [Run.Failed] says that the run was cut: figures that are computed from half a
// run look like any others.
//
// Else reading is strict. These are errors, which name the file and the line: a first line that
// is not llmbench's, an unknown version, an unknown outcome, and instants
// that contradict each other. An answer may be before its send by [sample.ClockError], as
// the two may be on different clocks. Unknown fields are ignored: later releases add fields
// without a new version.
package records
