// Package child starts processes that tests need, and that must not outlive the test.
package child

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Process is a process, or a container, that runs for a test.
type Process struct {
	Done chan struct{} // closed when the process has ended
	Err  error         // how the process ended, never nil; set before Done is closed
	Stop func()        // stops the process and waits until it has ended; may be called several times
}

// Start starts cmd. On Linux the kernel kills the process when this process ends, however it ends. Stop
// sends SIGTERM and, if the process still runs after delay, SIGKILL.
func Start(cmd *exec.Cmd, delay time.Duration) (*Process, error) {
	dieWithParent(cmd)
	cmd.WaitDelay = delay // for descendants that keep the output open
	p := &Process{Done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel kills the process when the thread that started it ends (PR_SET_PDEATHSIG in prctl(2)):
		// keep this thread until the process has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.Err = cmd.Wait()
		if p.Err == nil {
			p.Err = fmt.Errorf("%v", cmd.ProcessState)
		}
		close(p.Done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.Stop = func() { stop(cmd.Process, delay, p.Done) }
	return p, nil
}

// Output runs cmd, which has a context, and returns what it writes. When the context ends, the processes that cmd has
// started are killed with it. delay is how long their pipes may stay open afterwards. On Linux the kernel kills cmd when
// this process ends, however it ends.
func Output(cmd *exec.Cmd, delay time.Duration) ([]byte, error) {
	killGroup(cmd)
	dieWithParent(cmd)
	cmd.WaitDelay = delay
	runtime.LockOSThread() // as in Start
	defer runtime.UnlockOSThread()
	return cmd.CombinedOutput()
}

// stop stops a process and waits until done is closed.
func stop(p *os.Process, delay time.Duration, done <-chan struct{}) {
	if err := p.Signal(syscall.SIGTERM); err != nil { // the process has ended, or this system has no SIGTERM
		_ = p.Kill()
	}
	overdue := time.AfterFunc(delay, func() { _ = p.Kill() })
	defer overdue.Stop()
	<-done
}

// Close stops the process. It returns an error if the process had ended by itself. name and log, which has
// the last lines of the process, are for that error.
func (p *Process) Close(name string, log fmt.Stringer) (err error) {
	select {
	case <-p.Done:
		err = fmt.Errorf("%s ended by itself: %w; its last lines:\n%s", name, p.Err, log)
	default:
	}
	p.Stop()
	return err
}
