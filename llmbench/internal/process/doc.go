// Package process is what the benchmarks of a test binary share: how the process begins and ends, where results and
// progress are shown, and whether other processes measure with it.
//
// [Main] runs a test binary. A benchmark gets its [Party] from [Join]: the process alone, or the shards of a group, which
// go through the steps of the measurement together. Package process sends no request and judges no figure.
package process
