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

// KillGroup makes the cancellation of cmd's context kill not only cmd but also the processes that cmd has
// started. delay is how long their pipes may stay open afterwards.
func KillGroup(cmd *exec.Cmd, delay time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = delay
}

// refuseTimeWait makes listening on a port fail if the port has a connection in the state TIME_WAIT. It
// clears SO_REUSEADDR (socket(7)), which package net sets.
func refuseTimeWait(_, _ string, c syscall.RawConn) (err error) {
	controlErr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(controlErr, err)
}
