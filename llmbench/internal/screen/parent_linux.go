package screen

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// goCommandStderr opens the standard error of the go command. It returns nil unless three conditions hold:
// the go command has started this process, standard output and standard error of this process are one file,
// and the go command's own standard error is another file or a terminal.
func goCommandStderr() *os.File {
	parent := os.Getppid()
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil
	}
	f, err := stderrOf(parent)
	if err != nil {
		return nil
	}
	if same(os.Stdout, f) && !isTerminal(f) {
		f.Close()
		return nil
	}
	return f
}

// stderrOf returns a duplicate of the standard error of another process: both have one file offset, so neither
// overwrites what the other has written to a file. If the kernel does not permit the duplicate, stderrOf opens the
// file anew, for appending. Then the text may be overwritten by a later command of the same redirection.
func stderrOf(pid int) (*os.File, error) {
	if f, err := duplicateStderr(pid); err == nil {
		return f, nil
	}
	// Without O_NONBLOCK, opening a pipe could block. A socket cannot be opened.
	return os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", pid), os.O_WRONLY|os.O_APPEND|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
}

// duplicateStderr returns a duplicate of the standard error of another process. The kernel permits this only to a
// process that may trace the other one. See https://man7.org/linux/man-pages/man2/pidfd_getfd.2.html.
func duplicateStderr(pid int) (*os.File, error) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(process)
	fd, err := unix.PidfdGetfd(process, unix.Stderr, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "stderr"), nil
}
