//go:build !unix

package program

import (
	"os"
	"os/exec"
)

// A runner is a program's first process.
type runner struct {
	platform
	cmd *exec.Cmd
}

// launch starts the program.
func (p *Program) launch(c Command, path string) error {
	cmd := &exec.Cmd{Path: path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stdout: c.Output, Stderr: c.Output, WaitDelay: killTime}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.run.cmd = cmd
	go func() {
		defer close(p.gone)
		err := cmd.Wait()
		if err == nil || cmd.ProcessState != nil {
			p.setEnd(cmd.ProcessState.String())
			return
		}
		p.setEnd(err.Error())
	}()
	return nil
}

// stop kills the process, because this system has no SIGTERM.
func (r *runner) stop() { r.abandon() }

func (r *runner) signal(s os.Signal) error { return r.cmd.Process.Signal(s) }

func (r *runner) abandon() { _ = r.cmd.Process.Kill() }
