package screen

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// goCommandStderr opens the standard error of the go command. It returns nil unless three conditions hold:
// the go command has started this process, standard output and standard error of this process are one file,
// and the go command's own standard error is another file or a terminal. It opens a file for appending.
// This is safe, because the go command writes no more to the file before this process ends.
func goCommandStderr() *os.File {
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	if name, err := os.ReadFile(parent + "comm"); err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil
	}
	// Without O_NONBLOCK, opening a pipe could block. A socket cannot be opened.
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
