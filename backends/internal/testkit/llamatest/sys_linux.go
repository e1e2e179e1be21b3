package llamatest

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// chrootAttr returns the attributes of a process whose root directory is root.
func chrootAttr(root string) (*syscall.SysProcAttr, error) {
	newUser, err := chrootKind()
	return jail(root, newUser), err
}

// canChroot returns nil if this process can start others in a chroot.
func canChroot() error {
	_, err := chrootKind()
	return err
}

// chrootKind finds out, by trying, whether a chroot is possible without further measures, or in a new user
// namespace. Any user may create a user namespace unless the kernel forbids it (user_namespaces(7)).
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
	attr := &syscall.SysProcAttr{Chroot: root}
	if newUser {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// detach makes cmd ignore the signals of this process's terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
