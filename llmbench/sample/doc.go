// Package sample holds what a benchmark knows of each request, and computes figures
// from it.
//
// A [Sample] holds the raw instants and counts of one request. [Summarize] computes
// every [Unit] from samples alone; it is a pure function, so that samples which were
// read from a file give the figures that the benchmark reported. The package sends
// nothing and reads no file: package llmbench makes samples, and package records
// reads them.
package sample
