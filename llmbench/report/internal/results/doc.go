// Package results reads what a report is made of: files in Go benchmark format, with the lines
// of the log that stand in them, result files of other tools, and files of records. A [Row] is what is known of a benchmark
// with one configuration in one file: values, records, and reasons to doubt some of them.
package results
