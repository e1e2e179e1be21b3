//go:build unix

package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// supervisorName is the name under which an executable that contains this package runs as a supervisor. Its
// arguments are the delay between SIGTERM and SIGKILL, the path of the program's executable, and the
// program's command line.
const supervisorName = "llmbench-supervisor"

// The file descriptors that the supervisor has besides the standard ones.
const (
	lifelineFile = 3
	reportFile   = 4
)

func init() {
	if len(os.Args) > 3 && os.Args[0] == supervisorName {
		os.Exit(supervise(os.Args[1], os.Args[2], os.Args[3:]))
	}
}

// A supervisor runs a program. supervise runs on the main goroutine, which is locked to the process's main
// thread: the kernel would kill the program if the thread that started it ended.
type supervisor struct {
	delay   time.Duration
	reports *json.Encoder
	leader  int           // process id of the program's first process
	ended   chan struct{} // closed when the leader has ended
	status  syscall.WaitStatus
	gone    chan struct{} // closed when the supervisor has no children left
}

// supervise runs a program until the program has ended or has to be stopped. It returns the exit status of
// the supervisor.
func supervise(delay, path string, args []string) int {
	syscall.CloseOnExec(lifelineFile)
	syscall.CloseOnExec(reportFile)
	s := &supervisor{reports: json.NewEncoder(os.NewFile(reportFile, "reports")), ended: make(chan struct{}), gone: make(chan struct{})}
	stop := make(chan struct{})
	go func() { // the lifeline carries no data: Read returns when it is closed
		_, _ = os.NewFile(lifelineFile, "lifeline").Read(make([]byte, 1))
		close(stop)
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // the process that reads the reports may be gone
	if err := s.start(delay, path, args); err != nil {
		_ = s.reports.Encode(report{Failed: err.Error()})
		return 1
	}
	_ = s.reports.Encode(report{Started: s.leader})
	go s.reap()
	select {
	case <-stop:
	case <-signals:
	case <-s.ended:
		s.reportEnd()
	}
	s.end(time.Now().Add(s.delay))
	select {
	case <-s.gone: // wait, so that no zombies are left to a container's first process
	case <-time.After(leftGrace):
	}
	return 0
}

// start starts the program in a process group of its own.
func (s *supervisor) start(delay, path string, args []string) (err error) {
	if s.delay, err = time.ParseDuration(delay); err != nil {
		return err
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{null.Fd(), 1, 2}, Sys: leaderAttr()}
	if s.leader, err = syscall.ForkExec(path, args, attr); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// reap waits for all children, including adopted orphans, until none is left.
func (s *supervisor) reap() {
	defer close(s.gone)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return
		case pid == s.leader:
			s.status = status
			close(s.ended)
		}
	}
}

// leftGrace is how long the other processes of a program may take to end after the first one has ended.
const leftGrace = 100 * time.Millisecond

// reportEnd reports how the leader has ended, and which processes it has left behind.
func (s *supervisor) reportEnd() {
	how := describe(s.status)
	if !s.wait(time.Now().Add(leftGrace), func(int) {}) {
		how += ", and left other processes behind: " + s.list()
	}
	_ = s.reports.Encode(report{Ended: how})
}

// describe says how a process has ended, in the same words as package os.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// end stops the program: it sends SIGTERM to the leader, then SIGTERM to the other processes, and, at the
// deadline, SIGKILL to the processes that are left.
func (s *supervisor) end(deadline time.Time) {
	select {
	case <-s.ended:
	default:
		_ = syscall.Kill(s.leader, syscall.SIGTERM)
		select {
		case <-s.ended:
			_ = s.reports.Encode(report{Ended: describe(s.status)})
		case <-time.After(time.Until(deadline)):
		}
	}
	told := map[int]bool{}
	terminate := func(pid int) {
		if !told[pid] {
			told[pid] = true
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	if s.wait(deadline, terminate) {
		return
	}
	_ = s.reports.Encode(report{Killed: s.list()})
	s.wait(time.Now().Add(killTime), func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
	select {
	case <-s.ended:
		_ = s.reports.Encode(report{Ended: describe(s.status)})
	case <-time.After(leftGrace):
	}
}

// wait calls do for each process of the program, repeatedly, until no process is left. It returns false if
// processes are left at the deadline.
func (s *supervisor) wait(deadline time.Time, do func(pid int)) bool {
	for {
		if s.over() {
			return true
		}
		for _, pid := range processes(s.leader) {
			do(pid)
		}
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(stopPoll)
	}
}

// list names the processes of the program, such as "sh (process 12), server (process 13)".
func (s *supervisor) list() string {
	var names []string
	for _, pid := range processes(s.leader) {
		names = append(names, name(pid))
	}
	return strings.Join(names, ", ")
}
