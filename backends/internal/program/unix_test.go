//go:build unix && !linux

package program

import "syscall"

// runs reports whether a process exists.
func runs(pid int) bool { return syscall.Kill(pid, 0) == nil }
