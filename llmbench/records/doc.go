// Package records writes and reads the files in LLMBENCH_OUT. A file has one line about the benchmark, then
// one line for each request, and finally one line about how the benchmark ended. Each line is a JSON
// object. Older files do not have the last line.
//
// A [Writer] writes a file, and a [Follower] reads a file while it grows. [Open] and [Read] read a whole
// file into a [Run]. A Run has every instant of the file, and is small enough for millions of requests.
// [Run.Figures] computes the metrics that the benchmark reported.
//
// Requests are written in the order in which they end. If the process is killed, the file has no line about
// the end, and its last line may be incomplete. Read then ignores the incomplete line, and [Run.Failed]
// says that the run was cut. This is necessary because metrics that are computed from half a run look like
// any others.
//
// In all other respects, reading is strict. The following are errors, which name the file and the line: a
// first line that llmbench did not write, an unknown version, an unknown outcome, and instants that
// contradict each other. An answer may be up to [sample.ClockError] before its send, because the two may be
// on different clocks. Unknown fields are ignored, because later releases add fields without a new version.
package records
