package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A bar shows on a terminal how many processes of all rounds have run, the time left
// and what runs now, below the lines of the rounds before. Elsewhere it is nil, and
// shows nothing.
type bar struct{ *progressbar.ProgressBar }

// newBar draws on w if that is a terminal.
func newBar(w io.Writer, processes int) *bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return drawBar(w, processes)
}

func drawBar(w io.Writer, processes int) *bar {
	return &bar{progressbar.NewOptions(processes,
		progressbar.OptionSetWriter(w), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(20), progressbar.OptionThrottle(0), progressbar.OptionSetTheme(progressbar.ThemeASCII))}
}

// runs says what runs now, and what the last round took.
func (b *bar) runs(what, last string) {
	if b != nil {
		if last != "" {
			what += " (last: " + last + ")"
		}
		b.Describe(what)
		b.RenderBlank()
	}
}

// ran counts a process.
func (b *bar) ran() {
	if b != nil {
		b.Add(1)
	}
}

// clear makes room for a line.
func (b *bar) clear() {
	if b != nil {
		b.Clear()
	}
}

// line prints a line above the bar.
func (b *bar) line(w io.Writer, format string, args ...any) {
	b.clear()
	fmt.Fprintf(w, format, args...)
}
