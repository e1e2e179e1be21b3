// Package process holds what the benchmarks of a test binary share: the beginning and the end of the
// process, the display of results and progress, and the cooperation with other processes that measure
// together.
//
// [Main] runs a test binary. A benchmark gets its [Party] from [Join]. A Party is the process alone, or a
// group of processes (shards) that go through the steps of the measurement together. Package process sends
// no requests and does not judge metrics.
package process
