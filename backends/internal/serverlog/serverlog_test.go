package serverlog

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestLog(t *testing.T) {
	var all strings.Builder
	var last string
	l := &Log{Next: &all, Line: func(line string) { last = line }}
	for i := range 100 {
		fmt.Fprintf(l, "line %d\r\nhalf", i)
	}
	lines := strings.Split(l.String(), "\n")
	assert.Equal(t, len(lines), Kept)
	assert.Equal(t, lines[0], "halfline 61")
	assert.Equal(t, lines[Kept-1], "half")
	assert.Equal(t, last, "halfline 99")
	assert.Equal(t, strings.Count(all.String(), "\n"), 100)
	l.Flush()
	assert.Equal(t, last, "half")
	assert.Assert(t, strings.HasSuffix(all.String(), "half\n"))
}

// TestLogHides checks that a secret is hidden even if several writes contain parts of it. It also
// checks that it is hidden in what is passed on.
func TestLogHides(t *testing.T) {
	const secret = "hf_PlantedSecretToken"
	for cut := range len(secret) {
		var all strings.Builder
		l := &Log{Next: &all, Hide: []string{"", secret}}
		fmt.Fprintf(l, "token=%s", secret[:cut])
		fmt.Fprintf(l, "%s; again %s\nand %s", secret[cut:], secret, secret)
		for _, text := range []string{all.String(), l.String()} {
			assert.Assert(t, !strings.Contains(text, secret), "%q", text)
		}
		assert.Assert(t, strings.Contains(l.String(), "token=[secret]; again [secret]\nand [secret]"), "%q", l)
	}
}

// TestLogHidesAcrossBreak checks that a secret is hidden if the log breaks a long line inside it,
// and if a line is shown before it is complete.
func TestLogHidesAcrossBreak(t *testing.T) {
	const secret = "hf_PlantedSecretToken"
	for before := maxLine - 2*len(secret); before < maxLine+2; before++ {
		var all strings.Builder
		l := &Log{Next: &all, Hide: []string{secret, "another-secret-that-is-longer"}}
		fmt.Fprint(l, strings.Repeat(".", before)+secret[:10])
		fmt.Fprint(l, secret[10:]+" and the rest of the line\n")
		joined := strings.ReplaceAll(all.String(), "\n", "")
		assert.Assert(t, !strings.Contains(joined, secret[:leastPart]), "after %d bytes", before)
		assert.Assert(t, strings.HasSuffix(joined, ".[secret] and the rest of the line"), "after %d bytes: %q", before, joined[before:])
	}
	for cut := leastPart; cut < len(secret); cut++ {
		l := &Log{Hide: []string{secret}}
		fmt.Fprint(l, "token="+secret[:cut])
		assert.Equal(t, l.String(), "token=[secret]")
		l.Flush()
		assert.Equal(t, l.String(), "token=[secret]")
	}
}

// TestLogLongLine checks that a line without an end does not make the log use more and more memory.
func TestLogLongLine(t *testing.T) {
	l := &Log{}
	for range 100 {
		_, _ = l.Write(make([]byte, 10<<10))
	}
	for _, line := range l.Lines() {
		assert.Assert(t, len(line) < 2*maxLine, "a line of %d bytes", len(line))
	}
}
