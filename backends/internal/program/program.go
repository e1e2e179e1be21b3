package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// DefaultStopDelay is the time between SIGTERM and SIGKILL unless [Command] has another one.
const DefaultStopDelay = 10 * time.Second

// killTime is how long the end of a program may take after SIGKILL.
const killTime = 10 * time.Second

// A Command says what to run.
type Command struct {
	Args      []string      // the program and its arguments
	Dir       string        // working directory; "" is this process's
	Env       []string      // the whole environment, as NAME=value
	Output    io.Writer     // gets standard output and standard error; one goroutine writes to it, until the program has ended
	StopDelay time.Duration // between SIGTERM and SIGKILL; 0 means [DefaultStopDelay]
}

// A Program is a program that was started. Its methods are safe for concurrent use.
type Program struct {
	run   runner
	delay time.Duration

	ended chan struct{} // closed when the program's first process has ended
	gone  chan struct{} // closed when all of its processes have ended, and all output is written
	stop  sync.Once

	mu     sync.Mutex
	end    string // how the first process ended
	killed string // what SIGTERM did not end; "" is nothing
}

// Start starts a program. Its standard input is empty. The error says why the program
// cannot be started.
//
// On Unix, Start starts the executable of this process again, under the name
// "llmbench-supervisor". That process never gets to its main function, because an init
// function of this package takes over.
func Start(c Command) (*Program, error) {
	path, err := find(c)
	if err != nil {
		return nil, err
	}
	p := &Program{delay: cmp.Or(c.StopDelay, DefaultStopDelay), ended: make(chan struct{}), gone: make(chan struct{})}
	if err := p.launch(c, path); err != nil {
		return nil, err
	}
	return p, nil
}

// find returns the path of the program's executable. A name without a separator is looked for
// in PATH, and a relative path begins in the working directory.
func find(c Command) (string, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", errors.New("no command")
	}
	name := c.Args[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) && c.Dir != "" {
		name = filepath.Join(c.Dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Ended returns a channel that is closed when the program's first process has ended. Other
// processes of the program may go on until [Program.Stop] returns.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// End says how the first process ended, such as "exit status 1" or "signal: killed". It is for
// programs that have ended.
func (p *Program) End() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// Stop ends all processes of the program, and returns when they have ended and all output is
// written. The first process gets SIGTERM. When it has ended, the others get SIGTERM. What
// still runs when the delay of the command has passed gets SIGKILL; the text says what that was, and
// is "" if nothing had to be killed. Further calls return the same. The error says that processes
// could not be ended within ten seconds more.
func (p *Program) Stop() (killed string, err error) {
	p.stop.Do(p.run.stop)
	select {
	case <-p.gone:
	case <-time.After(p.delay + killTime):
		p.run.abandon()
		err = fmt.Errorf("it did not end within %v of SIGKILL", killTime)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed, err
}

// setEnd notes how the first process has ended.
func (p *Program) setEnd(how string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		return
	default:
	}
	p.end = how
	close(p.ended)
}
