package child

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// dieWithParent makes the kernel kill the process when the thread that starts it ends.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// KillGroup makes the end of cmd's context also kill the processes that cmd started. Their pipes
// may stay open for the time of delay.
func KillGroup(cmd *exec.Cmd, delay time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = delay
}

// refuseTimeWait makes a socket unable to listen on a port that has a connection in the state TIME_WAIT
// (SO_REUSEADDR in socket(7), which package net sets).
func refuseTimeWait(_, _ string, c syscall.RawConn) (err error) {
	controlErr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(controlErr, err)
}
