//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// self returns a command that runs this program with other arguments.
func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, args...), nil
}

// namespaced makes a command the first process of its own namespaces. When it ends, the kernel
// kills all other processes in them.
func namespaced(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
}

// runNamespaced runs a command in its own namespaces. The kernel kills the command when the thread
// that started it ends. So that thread is kept until the command has ended.
func runNamespaced(cmd *exec.Cmd) error {
	namespaced(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// ownMounts gives this process, which has its own namespaces, a view of its own processes and its
// own host name.
func ownMounts(hostname string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return syscall.Sethostname([]byte(hostname))
}

// hide makes a path show what is at another path. This applies to this mount namespace and to those
// that are made from it.
func hide(path, shows string) error {
	if err := syscall.Mount(shows, path, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", shows, path, err)
	}
	return nil
}
