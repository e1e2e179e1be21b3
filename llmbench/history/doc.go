// Package history keeps the results of many runs of benchmarks in a folder.
//
// A history has one file per run, in Go benchmark format (https://go.dev/design/14313-benchmark-format).
// Files are only added. The name of a file begins with the commit time, so that the order of names is the order of
// commits. Four configuration lines say what was measured:
//
//	commit: 3f1c0a9e4b7d         the version that was measured
//	commit-time: 2026-11-26T21:17:16Z
//	machine: h100-a              the machine, or the kind of equal machines
//	server: vllm serve -tp=2     the server and its flags, without its version
//
// A line date says when the run was added, and a line rerun-of names the run that a run repeats.
//
// Package golang.org/x/perf/benchseries, which draws the series of the Go project, is not used: each of its points is
// a ratio of a version to a baseline that was measured in the same run. A night of an inference server has no
// baseline beside it. Files are read by the packages below it, benchfmt, benchproc and benchmath.
package history
