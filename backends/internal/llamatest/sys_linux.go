package llamatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// chrootAttr returns the attributes of a process whose root directory is root and which
// is killed when the thread that started it ends.
func chrootAttr(root string) (*syscall.SysProcAttr, error) {
	newUser, err := chrootKind()
	return jail(root, newUser), err
}

// canChroot returns nil if this process can start others in a chroot.
func canChroot() error {
	_, err := chrootKind()
	return err
}

// chrootKind finds out, by trying, whether a chroot is possible directly or in a new
// user namespace. Any user may create a user namespace unless the kernel forbids it
// (user_namespaces(7)).
var chrootKind = sync.OnceValues(func() (newUser bool, err error) {
	plain := tryJail(false)
	if plain == nil {
		return false, nil
	}
	if err := tryJail(true); err != nil {
		return false, fmt.Errorf("%w; in a new user namespace: %w", plain, err)
	}
	return true, nil
})

func tryJail(newUser bool) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = jail("/", newUser)
	return cmd.Run()
}

func jail(root string, newUser bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL}
	if newUser {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// killGroup makes the end of cmd's context also kill the processes that cmd started.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = stopDelay
}

// detach shields cmd from the signals of this process's terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// lock waits for the lock on the file at path. It creates the file, which is never
// removed. unlock or the end of this process frees the lock.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s is held by another process: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}
