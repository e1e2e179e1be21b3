package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// activeText matches what acts on a terminal or on a CI system.
var activeText = regexp.MustCompile(`(?m)^\s*::[a-z]|##\[|[\x00-\x08\x0b-\x1f\x7f-\x9f\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

// TestNamesOfStrangers checks that names and settings in files do not act on what shows a report.
func TestNamesOfStrangers(t *testing.T) {
	const active = "::set-output/x=##[error]\u202e\x1b[2J"
	result := "Unit x" + active + " better=higher gate=1%\nserver: " + active + "\nBenchmark" + active + " 1 100 ns/op 5 x" + active + "\nBenchmarkB" + active + " 1 100 ns/op\nPASS\n"
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	assert.NilError(t, os.WriteFile(path("old"), []byte(strings.Repeat(result, 6)), 0o600))
	assert.NilError(t, os.WriteFile(path("new"), []byte(strings.Repeat(strings.ReplaceAll(result, " 100 ", " 200 "), 6)), 0o600))
	assert.NilError(t, os.WriteFile(path("other"), []byte(strings.ReplaceAll(strings.Repeat(result, 6), "server: ", "server: other ")), 0o600))
	assert.NilError(t, os.WriteFile(path("bad"), []byte("Unit x better="+active+"\n"), 0o600))
	assert.NilError(t, os.WriteFile(path("units"), []byte("Unit ns/op gate=5%\n"), 0o600))
	for _, sides := range [][]string{{"old", "new"}, {"old", "other"}, {"old", "bad"}, {"old", "none" + active}} {
		for _, format := range []string{"text", "md", "json"} {
			var stdout, stderr bytes.Buffer
			run([]string{"-units=" + path("units"), "-format=" + format, path(sides[0]), path(sides[1])}, &stdout, &stderr)
			shown := stderr.String()
			if format != "json" {
				shown += stdout.String()
			}
			assert.Assert(t, strings.Contains(stdout.String()+shown, "set-output"), shown)
			assert.Equal(t, activeText.FindString(shown), "", "%s: %q", format, shown)
		}
	}
}
