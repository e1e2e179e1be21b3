package llamatest

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// startChroot starts the server with root as its root directory.
func startChroot(root string, args []string, log *serverlog.Log) (*process, error) {
	attr, err := chrootAttr(root)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(life, serverPath, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/tmp", "PATH=/usr/bin"} // without this process's LLAMA_ARG_ variables
	cmd.SysProcAttr = attr
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopDelay // then SIGKILL

	p := &process{done: make(chan struct{})}
	p.stop = func() { cancel(); <-p.done }
	started := make(chan error)
	go func() {
		// The server is killed when the thread that started it ends
		// (PR_SET_PDEATHSIG in prctl(2)): keep the thread until the server ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		if p.err == nil {
			p.err = fmt.Errorf("%v", cmd.ProcessState)
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		cancel()
		return nil, fmt.Errorf("chroot %s: %w", root, err)
	}
	return p, nil
}
