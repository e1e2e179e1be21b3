// Package benchline reads the lines of files in Go benchmark format, strictly: a line that visibly holds a result but is no
// result line is an error (see [KindOf]). Files may be UTF-8 or UTF-16, with or without a byte order mark. Package benchfile
// reads results.
//
// The format is https://go.dev/design/14313-benchmark-format.
package benchline
