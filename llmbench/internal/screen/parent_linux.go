package screen

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// goCommandStderr opens the standard error of the go command if that has started this process, with
// one file as standard output and standard error, and if it is a terminal. Otherwise it
// returns nil.
func goCommandStderr() *os.File {
	out, err := os.Stdout.Stat()
	if err != nil {
		return nil
	}
	if stderr, err := os.Stderr.Stat(); err != nil || !os.SameFile(out, stderr) {
		return nil
	}
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	if name, err := os.ReadFile(parent + "comm"); err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil
	}
	// To open a pipe could block.
	if info, err := os.Stat(parent + "fd/2"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	f, err := os.OpenFile(parent+"fd/2", os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	if !isTerminal(f) {
		f.Close()
		return nil
	}
	return f
}
