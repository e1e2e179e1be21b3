// Package harness connects benchmarks and backends to the process that llmbench.Main runs. A benchmark that calls
// llmbench.Run alone does not need the package: Run does all of this itself. Who needs it are benchmarks that make
// their passes with llmbench.Pass, and backends that start a server.
//
//   - [Watch] makes failures count, and [Context] ends at an interrupt.
//   - [Note] and [Skip] print a text among the results, and [AtEnd] one after them.
//   - [Shard], [CheckOneMachine], [Lead] and [Loop] are for several processes that measure together, which are
//     called shards.
//
// The package measures nothing and prints no result.
package harness
