package llamatest

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tail is a writer that keeps the last lines written to it, and passes all of
// it on to a second writer if there is one.
type tail struct {
	next io.Writer // may be nil

	mu    sync.Mutex
	lines []string // whole lines, at most tailLines
	part  []byte   // the line that has not ended yet
}

const tailLines = 40

func (t *tail) Write(p []byte) (int, error) {
	if t.next != nil {
		_, _ = t.next.Write(p) // the server does not end because its log cannot be shown
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, p...)
	for {
		line, rest, ok := bytes.Cut(t.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		t.lines = append(t.lines, string(line))
		t.lines = t.lines[max(0, len(t.lines)-tailLines):]
		t.part = rest
	}
}

// String returns the lines kept, and the one that has not ended.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(append(t.lines[:len(t.lines):len(t.lines)], string(t.part)), "\n")
}
