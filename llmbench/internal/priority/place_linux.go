package priority

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// slice is the scheduling slice of the place Slice, the shortest one that the kernel accepts
// (__setparam_fair in https://github.com/torvalds/linux/blob/v6.12/kernel/sched/syscalls.c).
const slice = 100 * time.Microsecond

// Best returns the best place that this process may take now. If this is None, why says why.
func Best() (p Place, why string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id := unix.Gettid()
	before, err := unix.SchedGetAttr(id, 0)
	switch {
	case err != nil:
		return None, "the kernel does not tell the place of a thread: " + err.Error()
	case !ordinary(before):
		return None, "the process was started with a place of its own, as by nice, chrt or schedtool"
	}
	for _, p := range []Place{RR, Slice} {
		if p == RR && !mayRR() {
			continue
		}
		err := p.set(id, before)
		restore(id, before)
		if err == nil {
			return p, ""
		}
	}
	return None, "real-time threads need CAP_SYS_NICE or ulimit -r 1, and a short scheduling slice Linux 6.12"
}

// ordinary reports whether a thread has its usual place, or one that nice has improved.
func ordinary(a *unix.SchedAttr) bool { return a.Policy == unix.SCHED_NORMAL && a.Nice <= 0 }

// set gives a thread the place p, which is not None. Its earlier attributes are before. Threads and processes that
// the thread starts are ordinary ones (SCHED_FLAG_RESET_ON_FORK in
// https://man7.org/linux/man-pages/man2/sched_setattr.2.html).
func (p Place) set(id int, before *unix.SchedAttr) error {
	if p == RR {
		return unix.SchedSetAttr(id, &unix.SchedAttr{Flags: unix.SCHED_FLAG_RESET_ON_FORK, Policy: unix.SCHED_RR, Priority: 1}, 0)
	}
	a := &unix.SchedAttr{Flags: unix.SCHED_FLAG_RESET_ON_FORK, Policy: unix.SCHED_NORMAL, Nice: before.Nice, Runtime: uint64(slice)}
	if err := unix.SchedSetAttr(id, a, 0); err != nil {
		return err
	}
	now, err := unix.SchedGetAttr(id, 0)
	if err == nil && now.Runtime != a.Runtime { // before Linux 6.12
		err = errors.New("the kernel has no scheduling slices of threads")
	}
	return err
}

// restore gives a thread the attributes that it had before. If the process has no privilege, the kernel keeps the
// flag SCHED_FLAG_RESET_ON_FORK, which does nothing for ordinary threads.
func restore(id int, before *unix.SchedAttr) {
	a := *before
	if unix.SchedSetAttr(id, &a, 0) == unix.EPERM {
		a.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
		unix.SchedSetAttr(id, &a, 0)
	}
}
