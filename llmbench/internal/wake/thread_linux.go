package wake

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A thread is the thread to which a goroutine is locked.
type thread struct {
	slack int // earlier timer slack in nanoseconds; negative if unknown
}

// newThread locks the calling goroutine to its thread, and makes the kernel wake the thread without timer
// slack, which is 50 us by default (https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html).
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

// release unlocks the thread, and restores its timer slack.
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
