// Package report makes pictures and tables of benchmark files and of the records in
// LLMBENCH_OUT. The result is one HTML page that needs no other file and no network, and
// each picture as SVG, PNG and CSV.
//
// The package judges nothing: verdicts come from package gate, and other tools' figures from
// package compat. Figures of llmbench are printed as in the benchmark file, with all digits.
// A value that is not finite, a file that was cut and a file of another kind are errors, so
// that no page shows half a run.
package report
