// Package arrivals says when each request of an open loop is due.
//
// A [Process] is a schedule: [Constant], [Poisson] and [Gamma] arrivals at a rate,
// [Stages] whose rate changes with time, and the [Replay] of recorded instants. The
// instants depend on nothing but the fields of the process and the number of requests,
// so that two runs offer the same load. A closed loop has no process: a request is
// sent when an earlier one has ended, so that its instants depend on the server.
package arrivals
