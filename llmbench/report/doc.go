// Package report makes pictures and tables of benchmark files and of the records in
// LLMBENCH_OUT. The result is one HTML page that needs no other file and no network, and
// each picture as SVG, PNG and CSV.
//
// The page begins with what was measured, the answer in one sentence, what servers said about themselves, the figures
// of the answer, one picture that shows it beside a table, every warning in the logs and records, and the files whose
// benchmarks failed. Charts over the load, comparisons, distributions and failures follow. The details of each load are
// folded. The origin of the results comes last.
//
// Verdicts come from package gate, and the values of other tools come from package compat. Systems
// are compared at equal loads by a test of ranks, and "cannot tell" is a possible answer. The page
// shows values with three digits. All digits of the benchmark file are shown under the pointer, and
// are in the CSV files. A value that is not finite, a file that was cut off and a file of another
// kind are errors. So no page shows half a run.
package report
