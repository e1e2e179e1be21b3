// Package backends provides the servers that benchmarks measure. Each is a
// struct that says all about one kind of server; its Start gives a
// [llmbench.Target] that has answered a real completion, and stops what it
// started when the test or benchmark ends.
package backends
