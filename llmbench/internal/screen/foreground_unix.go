//go:build unix

package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// foreground reports whether the process may draw on a terminal: either the terminal does not control the
// process's session, or the process is in the foreground of the terminal.
func foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
