package main

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBar draws the bar of two rounds, with a line after the first.
func TestBar(t *testing.T) {
	var screen bytes.Buffer
	assert.Assert(t, newBar(&screen, 4) == nil, "a bar where there is no terminal")
	b := drawBar(&screen, 4)
	b.runs("round 1: base", "")
	b.ran()
	b.runs("round 1: head", "")
	b.ran()
	b.line(&screen, "round 1 of 2: base 1.0s, head 1.0s\n")
	b.runs("round 2: head", "base 1.0s, head 1.0s")
	b.clear()
	for _, want := range []string{"round 1: base", "1/4", "2/4", "round 2: head (last: base 1.0s, head 1.0s)"} {
		assert.Check(t, strings.Contains(screen.String(), want), "%q has no %q", &screen, want)
	}
	// A line stands on a row that was cleared, and nothing stays behind.
	before, _, _ := strings.Cut(screen.String(), "round 1 of 2")
	rows := strings.Split(before, "\r")
	assert.Equal(t, strings.TrimSpace(rows[len(rows)-1]), "")
	rows = strings.Split(screen.String(), "\r")
	assert.Equal(t, strings.TrimSpace(rows[len(rows)-1]), "")
	var none *bar
	none.runs("x", "")
	none.ran()
	none.clear()
}
