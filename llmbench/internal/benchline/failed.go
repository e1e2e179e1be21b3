package benchline

import (
	"bytes"
	"strings"
)

// Failed reports whether a line of a test binary's output says that a test or a benchmark failed; see
// [IsFailure].
func Failed(output []byte) bool {
	for line := range bytes.Lines(output) {
		if IsFailure(string(bytes.TrimRight(line, "\r\n"))) {
			return true
		}
	}
	return false
}

// IsFailure reports whether a line of a test binary's output, without its line end, says that a test or a
// benchmark failed: FAIL, or "--- FAIL" at any indentation.
func IsFailure(line string) bool {
	return line == "FAIL" || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "--- FAIL")
}
