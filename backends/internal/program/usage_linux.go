package program

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on all architectures that Go
// supports (https://man7.org/linux/man-pages/man7/time.7.html).
const tick = 10 * time.Millisecond

// readings is how many times Usage tries again if a process starts or ends while it reads.
const readings = 10

// Usage returns what the program has used. It only reads /proc, and does not communicate with the program.
func (p *Program) Usage() (Usage, error) {
	root := p.run.cmd.Process.Pid
	before, err := tree(root)
	if err != nil {
		return Usage{}, err
	}
	for range readings {
		u := Usage{}
		for _, s := range before {
			u.add(s, s.pid == root, p.peaksKnown())
		}
		after, err := tree(root)
		if err != nil {
			return Usage{}, err
		}
		if slices.EqualFunc(before, after, same) {
			return u, nil
		}
		before = after
	}
	return Usage{}, errors.New("its processes start and end too fast for their CPU time to be read")
}

// same reports whether two readings show the same process, which has waited for no child in between. Then
// no CPU time has moved from a process to its parent.
func same(a, b stat) bool {
	return a.pid == b.pid && a.start == b.start && a.children == b.children && (a.state == zombie) == (b.state == zombie)
}

// add adds a process. For the supervisor, only the time of the children that it has waited for counts.
func (u *Usage) add(s stat, supervisor, peaks bool) {
	u.CPU += time.Duration(s.children) * tick
	if supervisor {
		return
	}
	u.CPU += cpuTime(s.pid)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return // the process has ended, and the next reading notices that
	}
	u.Memory += kilobytes(status, "VmRSS:")
	if peaks {
		u.Peak = max(u.Peak, kilobytes(status, "VmHWM:"))
	}
}

// cpuTime returns the CPU time of a process with all its threads, including threads that have ended, or 0
// if the process does not exist any more. The kernel derives the id of the clock from the process id
// (https://man7.org/linux/man-pages/man3/clock_getcpuclockid.3.html).
func cpuTime(pid int) time.Duration {
	const sched = 2 // CPUCLOCK_SCHED of linux/posix-timers.h
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// kilobytes returns the size in a line of /proc/PID/status, converted to bytes
// (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html). A zombie has no such line.
func kilobytes(status []byte, name string) int64 {
	for line := range bytes.Lines(status) {
		value, found := bytes.CutPrefix(line, []byte(name))
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(value)), "kB")), 10, 50)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}

// ResetPeak starts a new period for [Usage.Peak]
// (https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html). It requires the permission to trace
// the program's processes; without it, Peak stays 0.
func (p *Program) ResetPeak() {
	all, _ := tree(p.run.cmd.Process.Pid)
	allowed := true
	for _, s := range all {
		err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid), []byte("5"), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			allowed = false
		}
	}
	p.run.peaks.Store(allowed)
}

func (p *Program) peaksKnown() bool { return p.run.peaks.Load() }

// A platform is the part of a runner that is specific to this system.
type platform struct {
	peaks atomic.Bool // whether ResetPeak was able to reset the peaks
}

// Footprint returns the sum of the resident sizes of a process and of its descendants, in bytes, and the number of
// their open files. The number is 0 if it cannot be read, as with a process of another user.
func Footprint(pid int) (resident int64, files int, err error) {
	all, err := tree(pid)
	if err != nil {
		return 0, 0, err
	}
	readable := true
	for _, s := range all {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
		if err != nil {
			continue // the process has ended
		}
		resident += kilobytes(status, "VmRSS:")
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
		readable = readable && !errors.Is(err, fs.ErrPermission)
		files += len(open)
	}
	if resident == 0 {
		return 0, 0, fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	if !readable {
		files = 0
	}
	return resident, files, nil
}
