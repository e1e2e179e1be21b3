// Package serverlog keeps the last lines of a server's log, without secrets.
package serverlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
)

// Kept is the number of lines that a [Log] keeps.
const Kept = 40

// maxLine is the length in bytes at which a line without an end is broken.
const maxLine = 64 << 10

// A Log is a writer that keeps the last lines written to it. The zero value is
// ready for use. The fields must be set before the first Write. A Log is safe
// for concurrent use.
type Log struct {
	// Next, if not nil, also receives each line. Its errors are ignored, because the server must not stop
	// when its log cannot be written.
	Next io.Writer
	// Hide lists texts that [secret.Placeholder] replaces in each line.
	Hide []string
	// Line, if not nil, is called with each complete line, without the line feed.
	Line func(line string)

	mu    sync.Mutex
	lines []string // at most Kept
	part  []byte   // the unfinished line
}

// Write adds data to the log. The error is always nil.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, whole := bytes.Cut(l.part, []byte("\n"))
		switch {
		case whole:
			l.add(line)
			l.part = rest
		case len(line) < maxLine:
			return len(p), nil
		default:
			l.breakLine()
		}
	}
}

// breakLine ends the unfinished line, but keeps its last bytes for the next line, because they may be the
// beginning of a text to hide.
func (l *Log) breakLine() {
	clean := l.Clean(string(l.part))
	kept := 0
	for _, hidden := range l.Hide {
		kept = max(kept, len(hidden)-1)
	}
	at := max(len(clean)-kept, len(clean)/2)
	l.add([]byte(clean[:at]))
	l.part = []byte(clean[at:])
}

// Flush ends an unfinished line.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.add([]byte(l.CleanCut(string(l.part))))
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

// Clean returns text in which each text of Hide is replaced.
func (l *Log) Clean(text string) string {
	for _, hidden := range l.Hide {
		if hidden != "" {
			text = strings.ReplaceAll(text, hidden, secret.Placeholder)
		}
	}
	return text
}

// leastPart is the minimum length at which the beginning of a text to hide is hidden, too.
const leastPart = 4

// CleanCut is like [Log.Clean], for a text that may end in the middle of a text to hide.
func (l *Log) CleanCut(text string) string {
	text = l.Clean(text)
	for _, hidden := range l.Hide {
		for n := min(len(hidden)-1, len(text)); n >= leastPart; n-- {
			if strings.HasSuffix(text, hidden[:n]) {
				text = text[:len(text)-n] + secret.Placeholder
				break
			}
		}
	}
	return text
}

// Lines returns the kept lines and the unfinished one.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append([]string(nil), l.lines...)
	if len(l.part) > 0 {
		lines = append(lines, l.CleanCut(string(l.part)))
	}
	return lines[max(0, len(lines)-Kept):]
}

// String returns [Log.Lines] joined by line feeds.
func (l *Log) String() string { return strings.Join(l.Lines(), "\n") }

// Create creates a file for the log in the folder dir and makes the file the log's Next. If the folder does
// not exist, Create creates it. The file's name consists of name, the time and a random suffix. The caller
// closes the file.
func (l *Log) Create(dir, name string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, name+"-"+time.Now().UTC().Format("20060102T150405")+"-*.log")
	if err != nil {
		return nil, err
	}
	l.Next = file
	return file, file.Chmod(0o644)
}

// Failure returns an error that consists of text, advice, a note and the last lines of the log. advice and
// note may be "". What the log hides is hidden in the error too.
func (l *Log) Failure(text, advice, note string) error {
	if advice != "" {
		text += "\n  what to do: " + advice
	}
	if note != "" {
		text += "\n  note: " + note
	}
	if lines := l.Lines(); len(lines) > 0 {
		text += "\n  last lines of its log:\n    " + strings.Join(lines, "\n    ")
	}
	return errors.New(l.Clean(text))
}
