// Package screen finds the terminal of the person who runs benchmarks.
package screen

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// A Place says which terminal is used.
type Place string

// The places.
const (
	// Auto is standard error if that is a terminal. The go command gives its standard
	// output to a test binary for both; then Auto, on Linux, is the standard error of the go
	// command if that is a terminal.
	Auto Place = "auto"
	// TTY is the terminal that controls the process, /dev/tty, whatever standard output and
	// standard error are.
	TTY Place = "tty"
	// None is no terminal.
	None Place = "none"
)

// A Screen is a terminal. It is never a file or a pipe.
type Screen struct {
	file   *os.File
	opened bool
}

// Open returns the terminal at a place, or nil if there is none. It returns an error if TTY
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
		return &Screen{f, true}, nil
	case Auto, "":
		if isTerminal(os.Stderr) {
			return &Screen{os.Stderr, false}, nil
		}
		if f := goCommandStderr(); f != nil {
			return &Screen{f, true}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("place %q; want auto, tty or none", p)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Write writes to the terminal.
func (s *Screen) Write(p []byte) (int, error) { return s.file.Write(p) }

// Width returns the number of columns, at least 1. It is 80 if the terminal does not tell.
func (s *Screen) Width() int {
	width, _, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// Draws reports whether lines can be drawn again: the terminal is not a dumb one, and the process
// is not in the background of the shell of the terminal.
func (s *Screen) Draws() bool { return os.Getenv("TERM") != "dumb" && foreground(s.file) }

// Close closes the terminal, unless it is standard error.
func (s *Screen) Close() {
	if s.opened {
		s.file.Close()
	}
}
