package benchline

import (
	"bytes"
	"regexp"
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
// benchmark failed: FAIL, or "--- FAIL" at any indentation or behind the name of the benchmark.
func IsFailure(line string) bool {
	return failedLater(line) || line == "FAIL" || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "--- FAIL")
}

// laterFailure matches what the testing package prints if a second or later sample of -count fails: the name of the
// benchmark, which it prints before each of these samples, and then the failure.
var laterFailure = regexp.MustCompile(`^(Benchmark\S*) *\t--- FAIL: (Benchmark\S*)$`)

func failedLater(line string) bool {
	m := laterFailure.FindStringSubmatch(strings.TrimRight(line, "\r"))
	return m != nil && strings.HasPrefix(m[1], m[2]) // the first name ends with GOMAXPROCS
}
