//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// endTogether gives cmd a process group of its own, so that a Ctrl-C at the
// terminal reaches it once, from us, and what it started with it.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
}
