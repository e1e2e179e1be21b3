package measure

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBar checks the bar during two rounds, with a line after the first.
func TestBar(t *testing.T) {
	var screen bytes.Buffer
	assert.Assert(t, !isTerminal(&screen))
	b := newBar(&screen, 4, true)
	b.describe("round 1: base", "")
	b.Add(1)
	b.describe("round 1: head", "")
	b.Add(1)
	b.line(&screen, "round 1 of 2: base 1.0s, head 1.0s\n")
	b.describe("round 2: head", "base 1.0s, head 1.0s")
	b.Clear()
	for _, want := range []string{"round 1: base", "1/4", "2/4", "round 2: head (last: base 1.0s, head 1.0s)"} {
		assert.Check(t, strings.Contains(screen.String(), want), "%q does not contain %q", &screen, want)
	}
	// The bar is cleared before a line is printed, and at the end.
	before, _, _ := strings.Cut(screen.String(), "round 1 of 2")
	rows := strings.Split(before, "\r")
	assert.Equal(t, strings.TrimSpace(rows[len(rows)-1]), "")
	rows = strings.Split(screen.String(), "\r")
	assert.Equal(t, strings.TrimSpace(rows[len(rows)-1]), "")
	var log bytes.Buffer
	b = newBar(&log, 1, false)
	b.describe("x", "")
	b.line(&log, "a line\n")
	b.Add(1)
	b.Clear()
	assert.Equal(t, log.String(), "a line\n", "want no bar without a terminal")
}
