package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A bar is a progress bar on a terminal, below the lines of earlier rounds. It shows the number of finished
// processes, the estimated time left and the running process. A nil bar shows nothing.
type bar struct{ *progressbar.ProgressBar }

// newBar returns a bar on w, or nil if w is not a terminal.
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

// describe shows what as the running process, and last as the times of the previous round.
func (b *bar) describe(what, last string) {
	if b != nil {
		if last != "" {
			what += " (last: " + last + ")"
		}
		b.Describe(what)
		b.RenderBlank()
	}
}

// advance counts a process that has ended.
func (b *bar) advance() {
	if b != nil {
		b.Add(1)
	}
}

// clear removes the bar from the screen.
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
