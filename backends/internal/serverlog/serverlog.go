// Package serverlog keeps the last lines of a server's log, free of secrets.
package serverlog

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Kept is how many lines a [Log] keeps.
const Kept = 40

// longest is where a line that does not end is broken, in bytes.
const longest = 64 << 10

// A Log is a writer that keeps the last lines written to it. Its zero value is
// ready; its fields are set before the first Write. It is safe for concurrent
// use.
type Log struct {
	// Next, if not nil, is given each line too. That it fails is no error: a
	// server does not end because its log cannot be shown.
	Next io.Writer
	// Hide are texts that are replaced by "[secret]", wherever they stand in a
	// line.
	Hide []string
	// Line, if not nil, is called with each whole line, without its end.
	Line func(line string)

	mu    sync.Mutex
	lines []string // at most Kept
	part  []byte   // the line that has not ended yet
}

// Write takes a piece of the log. Its error is always nil.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, whole := bytes.Cut(l.part, []byte("\n"))
		if !whole && len(line) < longest {
			return len(p), nil
		}
		l.add(line)
		l.part = rest
	}
}

// Flush ends a line that the server did not end.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.add(l.part)
		l.part = nil
	}
}

func (l *Log) add(b []byte) {
	line := l.Clean(strings.TrimSuffix(string(b), "\r"))
	l.lines = append(l.lines, line)
	l.lines = l.lines[max(0, len(l.lines)-Kept):]
	if l.Next != nil {
		_, _ = io.WriteString(l.Next, line+"\n")
	}
	if l.Line != nil {
		l.Line(line)
	}
}

// Clean returns text without what is hidden.
func (l *Log) Clean(text string) string {
	for _, secret := range l.Hide {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}

// Lines returns the lines kept, and the one that has not ended.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append([]string(nil), l.lines...)
	if len(l.part) > 0 {
		lines = append(lines, l.Clean(string(l.part)))
	}
	return lines[max(0, len(lines)-Kept):]
}

// String returns the lines kept as one text.
func (l *Log) String() string { return strings.Join(l.Lines(), "\n") }
