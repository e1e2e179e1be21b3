package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestHistoryShow(t *testing.T) {
	dir := t.TempDir()
	for day := 1; day <= 28; day++ {
		value := 1000 + day%3
		if day > 21 {
			value += 100
		}
		text := fmt.Sprintf("commit: c%02d\ncommit-time: 2026-01-%02dT00:00:00Z\nUnit ns/op better=lower gate=5%%\nBenchmarkX 1 %d ns/op\n", day, day, value)
		status, _, stderr := benchgateHistory(text, "add", "-dir", dir)
		assert.Equal(t, status, 0, stderr)
	}
	status, stdout, stderr := benchgateHistory("", "show", "-dir", dir)
	assert.Equal(t, status, 0, stderr)
	assert.Assert(t, strings.HasPrefix(stdout, "1 change for the worse is open. Besides, found in the last 7 days: 1 new baseline.\n"), stdout)
	assert.Assert(t, strings.Contains(stdout, "after commit c21 of 2026-01-21, in commit c22 of 2026-01-22 at the latest"), stdout)

	out, atom := filepath.Join(t.TempDir(), "page.html"), filepath.Join(t.TempDir(), "feed.xml")
	status, stdout, stderr = benchgateHistory("", "show", "-dir", dir, "-o", out, "-atom", atom, "-title=nightly", "-commits=https://example.com/commit/{commit}")
	assert.Equal(t, status, 0, stderr)
	assert.Equal(t, stdout, "")
	for path, want := range map[string]string{out: `<a href="https://example.com/commit/c22">`, atom: `<link rel="alternate" href="https://example.com/commit/c22"></link>`} {
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), want), "%s", text)
		assert.Assert(t, strings.Contains(string(text), "<title>nightly</title>"), "%s", text)
	}

	for want, args := range map[string][]string{
		"want a URL that begins with https:// or http:// and has {commit}": {"-commits=javascript:alert({commit})"},
		`history show: "x": want no arguments`:                             {"x"},
		"no runs":                                                          {"-dir", t.TempDir()},
	} {
		status, _, stderr = benchgateHistory("", append([]string{"show", "-dir", dir}, args...)...)
		assert.Equal(t, status, 2)
		assert.Assert(t, strings.Contains(stderr, want), stderr)
	}
}
