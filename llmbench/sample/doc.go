// Package sample holds what a benchmark knows about each request, and computes metrics from it.
//
// A [Sample] holds the raw instants and counts of one request. [Summarize] computes the value of every
// [Unit] from samples alone. It is a pure function: samples that were read from a file give the same
// results that the benchmark reported. The package sends nothing and reads no file: package llmbench
// creates samples, and package records reads them.
package sample
