// Package records reads the files that llmbench writes to LLMBENCH_OUT: a line
// about the benchmark, then one a request, and at last one about how it ended, which
// older files do not have. A [Run] is such a file in memory, with every instant as it
// was written, in little enough of it for millions of requests.
//
// It is strict, because a figure computed from half a file looks like any other. It
// refuses a first line that is not llmbench's, another version of the format, a last
// line that was cut, an outcome it does not know, and instants that contradict each
// other, and says which line of which file. Fields that it does not know it passes
// over: the format grows.
package records
