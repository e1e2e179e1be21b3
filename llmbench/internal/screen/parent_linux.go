package screen

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// goCommandStderr opens the standard error of the go command, if the go command has started this
// process, with one file as standard output and standard error, and if its own standard error is not
// that file. Otherwise it returns nil. A file is opened for appending: the go command writes no more to it
// before this process ends.
func goCommandStderr() *os.File {
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	if name, err := os.ReadFile(parent + "comm"); err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil
	}
	// Without O_NONBLOCK the opening of a pipe could block. A socket cannot be opened.
	f, err := os.OpenFile(parent+"fd/2", os.O_WRONLY|os.O_APPEND|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if same(os.Stdout, f) && !isTerminal(f) {
		f.Close()
		return nil
	}
	return f
}
