package llmbench

import "golang.org/x/sys/unix"

func init() {
	threadPlace = func() string {
		a, err := unix.SchedGetAttr(0, 0)
		switch {
		case err != nil:
			return err.Error()
		case a.Policy == unix.SCHED_RR:
			return "rr"
		case a.Policy == unix.SCHED_NORMAL && a.Runtime == 1e5:
			return "slice"
		}
		return "none"
	}
}
