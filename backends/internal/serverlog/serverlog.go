// Package serverlog keeps the last lines of a server's log, without secrets.
package serverlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Kept is the number of lines that a [Log] keeps.
const Kept = 40

// maxLine is the length in bytes at which a line without an end is broken.
const maxLine = 64 << 10

// A Log is a writer that keeps the last lines written to it, without the secrets of this process ([redact.Known]).
// A secret is also removed if it is spread over several lines. The zero value is ready for use. The fields must be
// set before the first Write. A Log is safe for concurrent use.
type Log struct {
	// Next, if not nil, also receives each line. Its errors are ignored, because the server must not stop
	// when its log cannot be written.
	Next io.Writer
	// Line, if not nil, is called with each complete line, without the line feed.
	Line func(line string)

	mu     sync.Mutex
	lines  []string // at most Kept
	before string   // the end of the text before the next line, where a secret may begin
	held   string   // complete lines that may end within a secret; they wait for the next line
	part   []byte   // the unfinished line
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
			l.end(strings.TrimSuffix(string(line), "\r"))
			l.part = rest
		case len(line) < maxLine:
			return len(p), nil
		default:
			l.breakLine()
		}
	}
}

// leastHeld is a length in bytes. A line that ends with so many bytes of the beginning of a secret, or more, waits
// for the next line. A shorter beginning tells nothing.
const leastHeld = 4

// end ends a line. The line is added unless a secret may continue in the next one.
func (l *Log) end(line string) {
	text := l.held + line
	if len(text) < maxLine && redact.Known().Begun(text, leastHeld) > 0 {
		l.held = text + "\n"
		return
	}
	l.held = ""
	l.add(text, "\n")
}

// breakLine ends the unfinished line, but keeps its last bytes for the next line if they may be the beginning of
// a secret.
func (l *Log) breakLine() {
	text := l.held + string(l.part)
	at := max(len(text)-redact.Known().Begun(text, 1), len(text)/2)
	l.held = ""
	l.add(text[:at], "")
	l.part = []byte(text[at:])
}

// Flush ends an unfinished line.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := l.unfinished(); text != "" {
		l.show(text)
	}
	l.before, l.held, l.part = "", "", nil
}

// add shows text, which ends with the given line end, or with none if text is only a part of a line.
func (l *Log) add(text, end string) {
	clean := redact.Known().RemoveAfter(l.before, text)
	l.before = text[max(0, len(text)-mostBefore):] + end
	l.show(clean)
}

// mostBefore is the number of bytes of the text before a line in which the beginning of a secret is searched for.
// They are several, because a character of a secret may be escaped.
const mostBefore = leastHeld * len(`\U0000002B`)

// show adds clean text to the lines.
func (l *Log) show(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		l.lines = append(l.lines, line)
		if l.Next != nil {
			_, _ = io.WriteString(l.Next, line+"\n")
		}
		if l.Line != nil {
			l.Line(line)
		}
	}
	l.lines = l.lines[max(0, len(l.lines)-Kept):]
}

// unfinished returns the text that was not shown yet, without secrets. The text may end in the middle of a secret.
func (l *Log) unfinished() string {
	secrets := redact.Known()
	text := strings.TrimSuffix(l.held+string(l.part), "\n")
	return secrets.RemoveBegun(secrets.RemoveAfter(l.before, text))
}

// Lines returns the kept lines and the unfinished one.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := slices.Clone(l.lines)
	if text := l.unfinished(); text != "" {
		lines = append(lines, strings.Split(text, "\n")...)
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
// note may be "". The error can be shown: see [redact.Secrets.Hide].
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
	return errors.New(redact.Known().Hide(text))
}
