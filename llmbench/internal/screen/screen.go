// Package screen shows progress and results to the person who runs benchmarks. It finds out where this
// person reads: on a terminal, or in the log of CI. It shows the progress of a pass there, and finally a
// table of the results.
package screen

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// A Place says where progress and results are shown.
type Place string

// The places.
const (
	// Auto is standard error if it is another file than standard output. If the go command runs a test
	// binary, both are the same file. In this case, Auto is the go command's own standard error (on Linux
	// only), if it is a terminal or another file than standard output.
	Auto Place = "auto"
	// TTY is the terminal that controls the process, /dev/tty, independent of standard output and standard
	// error.
	TTY Place = "tty"
	// None means that nothing is shown.
	None Place = "none"
)

// A Screen is where people read. It is never the same file as standard output, unless it is a terminal.
type Screen struct {
	file     *os.File
	opened   bool
	terminal bool
}

// Open returns the screen at a place, or nil if there is none. It returns an error if the place is TTY and
// the terminal cannot be opened.
func Open(p Place) (*Screen, error) {
	switch p {
	case None:
		return nil, nil
	case TTY:
		f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &Screen{f, true, true}, nil
	case Auto, "":
		if isTerminal(os.Stderr) || !same(os.Stdout, os.Stderr) {
			return &Screen{os.Stderr, false, isTerminal(os.Stderr)}, nil
		}
		if f := goCommandStderr(); f != nil {
			return &Screen{f, true, isTerminal(f)}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("place %q: want auto, tty or none", p)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// same reports whether two files are the same, or cannot be distinguished.
func same(a, b *os.File) bool {
	inA, errA := a.Stat()
	inB, errB := b.Stat()
	return errA != nil || errB != nil || os.SameFile(inA, inB)
}

// Write writes to the screen.
func (s *Screen) Write(p []byte) (int, error) { return s.file.Write(p) }

// logWidth is the number of columns of a screen that is not a terminal.
const logWidth = 120

// Width returns the number of columns, which is at least 1. A screen that is not a terminal has the width
// of a wide log. A terminal that does not report its width counts as 80 columns wide.
func (s *Screen) Width() int {
	if !s.terminal {
		return logWidth
	}
	width, _, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// Draws reports whether lines can be drawn again. This requires that the screen is a terminal, that the
// terminal is not dumb, and that the process is not in the background.
func (s *Screen) Draws() bool {
	return s.terminal && os.Getenv("TERM") != "dumb" && foreground(s.file)
}

// Logs reports whether the screen is no terminal.
func (s *Screen) Logs() bool { return !s.terminal }

// SharesStdout reports whether standard output is the same terminal.
func (s *Screen) SharesStdout() bool { return s.terminal && isTerminal(os.Stdout) }

// Close closes the screen, unless it is standard error.
func (s *Screen) Close() {
	if s.opened {
		s.file.Close()
	}
}
