//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGINT) }

func killGroup(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	if err := syscall.Kill(-cmd.Process.Pid, s); err != nil {
		return os.ErrProcessDone
	}
	return nil
}

// lock takes the lock of an open file, unless another process has it. It is given
// back when the file is closed.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.New("another benchgate uses it")
	}
	return nil
}
