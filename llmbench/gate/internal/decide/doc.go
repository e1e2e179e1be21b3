// Package decide has the statistics of package gate: it tests whether new samples are worse
// than old ones by more than a margin, and plans after which rounds it does.
//
// Samples that were taken in pairs of random order are compared by exchanging old and
// new within pairs (testPairs). Other samples are compared by a t-test of trimmed means
// ([Cell.Estimate]). The tests of this package simulate both, and print the tables in
// the doc comment of package gate.
package decide
