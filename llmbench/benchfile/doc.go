// Package benchfile reads files in Go benchmark format, strictly. It returns an error for a line that visibly holds a
// result but is no result line, for a value that is not finite, and for a unit that appears twice in one
// result. Errors name the file and the line. Units are spelled as in the file, not tidied: values in -ns
// are nanoseconds. Files may be UTF-8 or UTF-16, with or without a byte order mark.
//
// The format is https://go.dev/design/14313-benchmark-format.
package benchfile
