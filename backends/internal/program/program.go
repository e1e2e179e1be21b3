package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// DefaultStopDelay is the time between SIGTERM and SIGKILL, unless the [Command] sets another.
const DefaultStopDelay = 10 * time.Second

// killTime is how long a program may take to end after SIGKILL.
const killTime = 10 * time.Second

// A Command says what to run.
type Command struct {
	Args      []string      // the program and its arguments
	Dir       string        // working directory; "" means this process's working directory
	Env       []string      // the whole environment, as NAME=value
	Output    io.Writer     // receives standard output and standard error; one goroutine writes to it until all output is written
	StopDelay time.Duration // between SIGTERM and SIGKILL; 0 means [DefaultStopDelay]
}

// A Program is a program that was started. Its methods are safe for concurrent use.
type Program struct {
	run   runner
	delay time.Duration

	ended chan struct{} // closed when the program's first process has ended
	gone  chan struct{} // closed when all processes of the program have ended and all output is written
	stop  sync.Once

	mu     sync.Mutex
	end    string // how the first process ended
	killed string // what SIGTERM did not stop; "" if nothing
}

// Start starts a program. Its standard input is empty. The error says why the program could not be started.
//
// On Unix, Start starts the executable of this process again, under the name "llmbench-supervisor". The new
// process never reaches its main function, because an init function of this package takes over.
func Start(c Command) (*Program, error) {
	path, err := find(c)
	if err != nil {
		return nil, err
	}
	if c.Env == nil {
		c.Env = []string{} // otherwise exec would pass on this process's variables
	}
	p := &Program{delay: cmp.Or(c.StopDelay, DefaultStopDelay), ended: make(chan struct{}), gone: make(chan struct{})}
	if err := p.launch(c, path); err != nil {
		return nil, err
	}
	return p, nil
}

// Find returns an error if the program's executable is not found, as [Start] would.
func Find(c Command) error {
	_, err := find(c)
	return err
}

// find returns the path of the program's executable. A name without a separator is searched for in PATH,
// and a relative path is relative to the working directory of the command.
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

// Ended returns a channel that is closed when the program's first process has ended. Other processes of the
// program may continue until [Program.Stop] returns.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// End says how the first process ended, such as "exit status 1" or "signal: killed". Call it only after the
// channel of [Program.Ended] is closed.
func (p *Program) End() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// Signal sends a signal to all processes of the program that are in its process group, or only to its first process on
// systems without groups.
func (p *Program) Signal(s os.Signal) error { return p.run.signal(s) }

// Stop stops all processes of the program, and returns when they have ended and all output is written. The
// first process gets SIGTERM. When it has ended, the others get SIGTERM. When the command's StopDelay has
// passed, the remaining processes get SIGKILL. killed names the processes that needed SIGKILL; it is "" if
// there were none. Stop returns an error if processes are still running ten seconds later. Further calls
// return the same.
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

// setEnd records how the first process has ended, unless that is known already.
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
