package measure

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A bar is a progress bar on a terminal, below the lines of earlier rounds. It shows the number of finished
// processes, the estimated time left and the running process.
type bar struct{ *progressbar.ProgressBar }

// newBar returns a bar on w. It shows nothing unless visible is set.
func newBar(w io.Writer, processes int, visible bool) bar {
	return bar{progressbar.NewOptions(processes,
		progressbar.OptionSetWriter(w), progressbar.OptionSetVisibility(visible), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(20), progressbar.OptionThrottle(0), progressbar.OptionSetTheme(progressbar.ThemeASCII))}
}

// describe shows what as the running process, and last as the times of the previous round.
func (b bar) describe(what, last string) {
	if last != "" {
		what += " (last: " + last + ")"
	}
	b.Describe(what)
	b.RenderBlank()
}

// line prints a line above the bar.
func (b bar) line(w io.Writer, format string, args ...any) {
	b.Clear()
	fmt.Fprintf(w, format, args...)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
