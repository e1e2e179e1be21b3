//go:build !linux

package child

import (
	"os/exec"
	"syscall"
	"time"
)

func dieWithParent(*exec.Cmd) {}

// KillGroup only sets cmd.WaitDelay to delay on this system.
func KillGroup(cmd *exec.Cmd, delay time.Duration) { cmd.WaitDelay = delay }

func refuseTimeWait(_, _ string, _ syscall.RawConn) error { return nil }
