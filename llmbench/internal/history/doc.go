// Package history keeps the results of many benchmark runs in a folder.
//
// A history has one file per run, in Go benchmark format (https://go.dev/design/14313-benchmark-format). Files
// are added but never changed. A file name begins with the commit time. Four configuration lines say what was
// measured:
//
//	commit: 3f1c0a9e4b7d         the measured version
//	commit-time: 2026-11-26T21:17:16Z
//	machine: h100-a              the machine, or the kind of machine if several are equal
//	server: vllm serve -tp=2     the server and its flags, without its version
//
// A fifth line, date, says when the run was added. If the run repeats another run, a line rerun-of names the
// repeated run. A file whose name is "ack-" and the name of a run accepts that run's results as they are.
//
// Runs of a machine are in the order in which they ran: by their date. Many old commits may be measured one after
// another. Runs of one machine that follow each other within six hours are therefore in the order of commits, if at
// least two of them, and more than a quarter, measured an older commit than the run before. Runs of several machines
// are in the order of commits.
//
// Clocks may be wrong. If a date is in the future, or a day before a commit that is not in the future, the commit time
// counts instead of the date.
//
// Package golang.org/x/perf/benchseries draws the series of the Go project. It is not used here, because each
// of its points is the ratio of a version to a baseline from the same run, and a nightly run of an inference
// server has no such baseline. The files are read by benchfmt and benchproc, on which benchseries is built, too.
package history
