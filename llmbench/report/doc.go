// Package report makes pictures and tables of benchmark files and of the records in
// LLMBENCH_OUT. The result is one HTML page that needs no other file and no network, and
// each picture as SVG, PNG and CSV.
//
// The page begins with what was measured, the answer in words, one picture that shows it, and
// every warning of logs and records. Then come figures over load, comparisons, distributions,
// and failures; detail of each load is folded, and provenance is last.
//
// Verdicts come from package gate, and other tools' figures from package compat. Systems are
// compared at equal loads by a test of ranks, and "cannot tell" is an answer. Figures have three
// digits on the page; all digits of the benchmark file are under the pointer and in the CSV
// files. A value that is not finite, a file that was cut and a file of another kind are errors, so
// that no page shows half a run.
package report
