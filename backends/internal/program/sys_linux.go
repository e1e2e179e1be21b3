package program

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of all its descendants that become orphans
// (PR_SET_CHILD_SUBREAPER in prctl(2)).
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl PR_SET_CHILD_SUBREAPER: %w", err)
	}
	return nil
}

// leaderAttr returns the attributes of a program's first process.
func leaderAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// over reports whether no process of the program is left, which is the case if the supervisor has no
// children: a process that loses its parent immediately becomes a child of the supervisor.
func (s *supervisor) over() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// processes returns the descendants of this process, the supervisor, without zombies. A process that loses
// its parent during the call may be missing.
func processes(int) (pids []int) {
	all, _ := tree(os.Getpid())
	for _, p := range all {
		if p.state != zombie && p.pid != os.Getpid() {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// name describes a process in a message.
func name(pid int) string {
	s, err := readStat(pid)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Sprintf("process %d, which has ended", pid)
	}
	return fmt.Sprintf("%s (process %d)", s.name, pid)
}
