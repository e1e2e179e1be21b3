// Package arrivals computes when each request of an open loop is due.
//
// A [Process] is a schedule. It is one of: [Constant], [Poisson] and [Gamma] arrivals at a fixed mean rate,
// [Stages] whose rate changes with time, and the [Replay] of recorded instants. The instants depend only on
// the fields of the process and on the number of requests, so that two runs offer the same load. A closed
// loop has no process: it sends a request when an earlier one has ended, so its instants depend on the
// server. [Users] are the numbers of its users over time.
package arrivals
