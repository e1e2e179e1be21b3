// Package screen shows progress and results to the person who runs benchmarks: where this person reads, which is a terminal or
// the log of CI, and what stands there beside the results: the progress of a pass, and a table of the
// figures at the end.
package screen

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// A Place says what is used.
type Place string

// The places.
const (
	// Auto is standard error if that is another file than standard output. A test binary that the
	// go command runs has one file for both. Then Auto is the go command's own standard error
	// (Linux only), if that is another file or all are one terminal.
	Auto Place = "auto"
	// TTY is the terminal that controls the process, /dev/tty, whatever standard output and
	// standard error are.
	TTY Place = "tty"
	// None is nothing.
	None Place = "none"
)

// A Screen is where people read. It is never the file of standard output, unless that is a terminal.
type Screen struct {
	file     *os.File
	opened   bool
	terminal bool
}

// Open returns the screen at a place, or nil if there is none. It returns an error if TTY
// cannot be opened.
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
	return nil, fmt.Errorf("place %q; want auto, tty or none", p)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// same reports whether two files are one, or cannot be told apart.
func same(a, b *os.File) bool {
	inA, errA := a.Stat()
	inB, errB := b.Stat()
	return errA != nil || errB != nil || os.SameFile(inA, inB)
}

// Write writes to the screen.
func (s *Screen) Write(p []byte) (int, error) { return s.file.Write(p) }

// logWidth is the number of columns of a screen that does not tell.
const logWidth = 120

// Width returns the number of columns, at least 1. A screen that is no terminal has the width of a wide log. A
// terminal that does not state its width has 80.
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

// Draws reports whether lines can be drawn again: the screen is a terminal and not a dumb one, and the process
// is not in the background of the shell of the terminal.
func (s *Screen) Draws() bool {
	return s.terminal && os.Getenv("TERM") != "dumb" && foreground(s.file)
}

// Close closes the screen, unless it is standard error.
func (s *Screen) Close() {
	if s.opened {
		s.file.Close()
	}
}
