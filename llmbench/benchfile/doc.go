// Package benchfile reads files in Go benchmark format, strictly: a line that looks like a
// result and is none, a value that is not finite, and a unit that stands twice in one
// result are errors that name the file and the line. Units are spelled as in the file, not
// tidied: -ns values are nanoseconds.
//
// The format is https://go.dev/design/14313-benchmark-format.
package benchfile
