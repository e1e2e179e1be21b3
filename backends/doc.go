// Package backends provides the servers that benchmarks measure. Each is a
// struct that says all about one kind of server; its Start gives a
// [llmbench.Target] that is ready: a server of somebody else's has answered a
// real completion. What Start started stops when the test or benchmark ends.
package backends
