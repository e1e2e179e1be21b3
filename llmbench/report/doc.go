// Package report makes pictures and tables of benchmark files and of the records in
// LLMBENCH_OUT: one HTML file that needs nothing else and asks nothing of any
// network, and each picture alone as SVG and PNG.
//
// It draws what it is given and judges nothing: verdicts are package gate's, other
// tools' figures are package compat's, and figures of llmbench are printed as they
// stand in the benchmark file, to the last digit. A value that is not a finite number, a file that
// was cut and a file of another kind are errors, so that no page is made of half a
// run.
package report
