package wake

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A thread is the thread to which a goroutine is wired.
type thread struct {
	slack int // timer slack before, in nanoseconds; below 0: unknown
}

// newThread wires the calling goroutine to its thread, and makes the kernel wake the thread without
// slack, which is 50 us otherwise
// (https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html).
func newThread() *thread {
	runtime.LockOSThread()
	t := &thread{slack: -1}
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) == nil {
			t.slack = slack
		}
	}
	return t
}

// release gives the thread back as newThread found it.
func (t *thread) release() {
	if t.slack >= 0 {
		unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(t.slack), 0, 0, 0)
	}
	runtime.UnlockOSThread()
}

// sleep sleeps for d, or until a signal comes.
func (t *thread) sleep(d time.Duration) {
	rest := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&rest, nil)
}
