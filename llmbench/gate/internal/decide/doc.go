// Package decide contains the statistics of package gate. It tests whether new samples are worse than old
// ones by more than a margin, and plans after which rounds it tests.
//
// Samples that were taken in pairs, in random order, are compared by exchanging old and new within pairs
// (testPairs). Other samples are compared by a t-test of trimmed means ([Cell.Estimate]). The tests of this
// package simulate both, and print the tables in the doc comment of package gate.
package decide
