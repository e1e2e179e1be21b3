// Package history keeps the results of many benchmark runs in a folder.
//
// A history has one file per run, in Go benchmark format (https://go.dev/design/14313-benchmark-format). Files
// are added but never changed. A file name begins with the commit time, so that sorting by name also sorts by
// commit. Four configuration lines say what was measured:
//
//	commit: 3f1c0a9e4b7d         the measured version
//	commit-time: 2026-11-26T21:17:16Z
//	machine: h100-a              the machine, or the kind of machine if several are equal
//	server: vllm serve -tp=2     the server and its flags, without its version
//
// A fifth line, date, says when the run was added. If the run repeats another run, a line rerun-of names the
// repeated run.
//
// Package golang.org/x/perf/benchseries draws the series of the Go project. It is not used here, because each
// of its points is the ratio of a version to a baseline from the same run, and a nightly run of an inference
// server has no such baseline. The files are read by benchfmt and benchproc, on which benchseries is built, too.
package history
