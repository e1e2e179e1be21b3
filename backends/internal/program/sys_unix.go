//go:build unix && !linux

package program

import (
	"fmt"
	"syscall"
)

// adoptOrphans does nothing, because this system does not support it.
func adoptOrphans() error { return nil }

// leaderAttr returns the attributes of a program's first process.
func leaderAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// over reports whether the program's process group is empty.
func (s *supervisor) over() bool { return len(processes(s.leader)) == 0 }

// processes returns the process group of the program's first process, in the form that kill(2) expects, or
// nothing if the group is empty.
func processes(leader int) []int {
	if syscall.Kill(-leader, 0) == syscall.ESRCH {
		return nil
	}
	return []int{-leader}
}

// name describes a process group in a message.
func name(pid int) string { return fmt.Sprintf("process group %d", -pid) }
