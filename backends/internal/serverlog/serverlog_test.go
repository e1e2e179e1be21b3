package serverlog

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
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
	redact.Add(secret)
	for cut := range len(secret) {
		var all strings.Builder
		l := &Log{Next: &all}
		fmt.Fprintf(l, "token=%s", secret[:cut])
		fmt.Fprintf(l, "%s; again %s\nand %s", secret[cut:], secret, secret)
		for _, text := range []string{all.String(), l.String()} {
			assert.Assert(t, !strings.Contains(text, secret), "%q", text)
		}
		assert.Assert(t, strings.Contains(l.String(), "token=[redacted]; again [redacted]\nand [redacted]"), "%q", l)
	}
}

// TestLogHidesAcrossBreak checks that a secret is hidden if the log breaks a long line inside it,
// and if a line is shown before it is complete.
func TestLogHidesAcrossBreak(t *testing.T) {
	const secret = "hf_PlantedSecretToken"
	redact.Add(secret, "another-secret-that-is-longer")
	for before := maxLine - 2*len(secret); before < maxLine+2; before++ {
		var all strings.Builder
		l := &Log{Next: &all}
		fmt.Fprint(l, strings.Repeat(".", before)+secret[:10])
		fmt.Fprint(l, secret[10:]+" and the rest of the line\n")
		joined := strings.ReplaceAll(all.String(), "\n", "")
		assert.Assert(t, !strings.Contains(joined, secret[:leastHeld]), "after %d bytes", before)
		assert.Assert(t, strings.HasSuffix(joined, ".[redacted] and the rest of the line"), "after %d bytes: %q", before, joined[before:])
	}
	for cut := leastHeld; cut < len(secret); cut++ {
		l := &Log{}
		fmt.Fprint(l, "token="+secret[:cut])
		assert.Equal(t, l.String(), "token=[redacted]")
		l.Flush()
		assert.Equal(t, l.String(), "token=[redacted]")
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

// TestLogHidesAcrossLines checks that a secret is hidden if the server's log breaks lines within it, that the lines
// around it are kept, and that a line that only begins like a secret is shown.
func TestLogHidesAcrossLines(t *testing.T) {
	const secret = "hf_PlantedSecretToken"
	redact.Add(secret)
	for cut := 1; cut < len(secret); cut++ {
		var all strings.Builder
		l := &Log{Next: &all}
		fmt.Fprintf(l, "first\nthe key is %s\n", secret[:cut])
		fmt.Fprintf(l, "%s, says the server\nlast\n", secret[cut:])
		joined := strings.ReplaceAll(all.String(), "\n", "")
		assert.Assert(t, !strings.Contains(joined, secret[:leastHeld]) && !strings.Contains(joined, secret[len(secret)-leastHeld:]), "%q", all.String())
		assert.Assert(t, strings.HasPrefix(all.String(), "first\nthe key is "), "%q", all.String())
		assert.Assert(t, strings.HasSuffix(all.String(), ", says the server\nlast\n"), "%q", all.String())
	}
	var all strings.Builder
	l := &Log{Next: &all}
	fmt.Fprint(l, "it begins with hf_Plan\nand nothing follows\nhf_Plan\n")
	assert.Equal(t, all.String(), "it begins with hf_Plan\nand nothing follows\n")
	assert.Equal(t, l.String(), "it begins with hf_Plan\nand nothing follows\n[redacted]")
	l.Flush()
	assert.Equal(t, all.String(), "it begins with hf_Plan\nand nothing follows\n[redacted]\n")
}

// TestFailure checks that the error with the last lines of a log has no characters that act on what shows it.
func TestFailure(t *testing.T) {
	l := &Log{}
	fmt.Fprint(l, "\x1b[2J\n::set-output name=a::b\n")
	assert.Error(t, l.Failure("it ended", "", ""), "it ended\n  last lines of its log:\n    \\x1b[2J\n    \\x3a:set-output name=a::b")
}

// FuzzLog checks that a log shows the same, however the server's writes are divided, that it hides a secret on one line
// or on two, and that it changes nothing else.
func FuzzLog(f *testing.F) {
	const secret = "hf_PlantedSecretToken"
	f.Add("before ", " after", 5, 3)
	f.Add("hf_Pla\n", "\r\nhf_", 30, 7)
	f.Fuzz(func(t *testing.T, before, after string, cut, size int) {
		redact.Add(secret)
		if size < 1 || len(before)+len(after) > 1000 {
			return
		}
		show := func(text string, size int) string {
			var all strings.Builder
			l := &Log{Next: &all}
			for len(text) > size {
				fmt.Fprint(l, text[:size])
				text = text[size:]
			}
			fmt.Fprint(l, text)
			l.Flush()
			return all.String()
		}
		text := before + secret + after
		if cut >= 0 && cut < len(secret) {
			text = before + secret[:cut] + "\n" + secret[cut:] + after
		}
		got := show(text, size)
		assert.Equal(t, got, show(text, len(text)))
		assert.Assert(t, !strings.Contains(strings.ReplaceAll(got, "\n", ""), secret), "%q: %q", text, got)
		if plain := before + "\n"; !strings.ContainsAny(plain, "hH6%&+\\") { // the first characters of the secret and of its encodings
			assert.Equal(t, show(plain, size), strings.ReplaceAll(plain, "\r\n", "\n"))
		}
	})
}
