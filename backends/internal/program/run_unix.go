//go:build unix

package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A runner is the supervisor of a program, from the view of the process that measures.
type runner struct {
	platform
	cmd      *exec.Cmd
	lifeline *os.File // the supervisor stops the program when this file is closed
	leader   int      // process id of the program's first process
}

// A report is a message from the supervisor. Exactly one field is set.
type report struct {
	Started int    `json:",omitempty"` // process id of the program's first process
	Failed  string `json:",omitempty"` // why the program could not be started
	Ended   string `json:",omitempty"` // how the program's first process ended
	Killed  string `json:",omitempty"` // processes that SIGTERM did not stop
}

// launch starts the supervisor, and returns when the supervisor has started the program.
func (p *Program) launch(c Command, path string) (err error) {
	var pipes [4]*os.File // the lifeline's and the report pipe's reading and writing ends
	defer func() {
		for i, f := range pipes {
			if f != nil && (err != nil || i == 0 || i == 3) {
				f.Close()
			}
		}
	}()
	if pipes[0], pipes[1], err = os.Pipe(); err != nil {
		return err
	}
	if pipes[2], pipes[3], err = os.Pipe(); err != nil {
		return err
	}
	self, err := executable()
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{supervisorName, p.delay.String(), path}, c.Args...),
		Dir: c.Dir, Env: c.Env, Stdout: c.Output, Stderr: c.Output,
		ExtraFiles:  []*os.File{pipes[0], pipes[3]},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   killTime, // in case a process cannot be stopped and keeps the output open
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("its supervisor: %w", err)
	}
	p.run.cmd, p.run.lifeline = cmd, pipes[1]
	reports := json.NewDecoder(pipes[2])
	var first report
	if err := reports.Decode(&first); err != nil {
		first.Failed = fmt.Sprintf("its supervisor: %v", err)
	}
	if first.Failed != "" {
		p.run.abandon()
		return errors.Join(errors.New(first.Failed), ignoreExit(cmd.Wait()))
	}
	p.run.leader = first.Started
	go p.follow(reports, pipes[2])
	return nil
}

// ignoreExit returns nil if err says that a process exited with a status other than 0.
func ignoreExit(err error) error {
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil
	}
	return err
}

// executable returns the path of this process's executable.
func executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil // works even if the file was replaced
	}
	return os.Executable()
}

// follow reads the supervisor's reports, and waits until the supervisor has ended.
func (p *Program) follow(reports *json.Decoder, from io.Closer) {
	defer close(p.gone)
	defer from.Close()
	for {
		var r report
		if err := reports.Decode(&r); err != nil {
			break
		}
		if r.Killed != "" {
			p.mu.Lock()
			p.killed = r.Killed
			p.mu.Unlock()
		}
		if r.Ended != "" {
			p.setEnd(r.Ended)
		}
	}
	err := p.run.cmd.Wait()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // the supervisor was killed, but the program may still run
		_ = syscall.Kill(-p.run.leader, syscall.SIGKILL)
		p.setEnd(fmt.Sprintf("its supervisor ended: %v", err))
	}
	p.setEnd("unknown")
}

// stop tells the supervisor to stop the program.
func (r *runner) stop() { r.lifeline.Close() }

// signal sends a signal to the program's process group.
func (r *runner) signal(s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v: want a number of this system", s)
	}
	return syscall.Kill(-r.leader, number)
}

// abandon kills the supervisor and the program's process group.
func (r *runner) abandon() {
	r.lifeline.Close()
	_ = r.cmd.Process.Kill()
	if r.leader > 0 {
		_ = syscall.Kill(-r.leader, syscall.SIGKILL)
	}
}

// stopPoll is the time between two checks whether processes have ended.
const stopPoll = 5 * time.Millisecond
