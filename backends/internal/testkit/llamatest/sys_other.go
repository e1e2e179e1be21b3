//go:build !linux

package llamatest

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// The server runs on Linux only. On other systems rootfs returns an error before the
// other functions have any effect.

func errNotLinux() error { return fmt.Errorf("%w on %s", need.ErrUnavailable, runtime.GOOS) }

func chrootAttr(string) (*syscall.SysProcAttr, error) { return nil, errNotLinux() }
func canChroot() error                                { return errNotLinux() }
func detach(*exec.Cmd)                                {}
