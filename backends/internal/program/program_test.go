//go:build unix

package program

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// patience limits each wait of a test. It is only exceeded if something is wrong.
const patience = time.Minute

// roleVariable is the environment variable that turns this test binary into one of the programs in
// roles.
const roleVariable = "PROGRAM_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		fmt.Printf("pid %d\n", os.Getpid())
		role(os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// roles holds the programs that tests run. Each program first writes its process id.
var roles map[string]func(args []string)

func init() {
	roles = map[string]func(args []string){
		"sleep": func([]string) { time.Sleep(patience) },
		"exit": func(args []string) {
			code, _ := strconv.Atoi(args[0])
			os.Exit(code)
		},
		"ignore SIGTERM": func([]string) {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			fmt.Println("ignoring")
			time.Sleep(patience)
		},
		// A daemon ends and leaves a process in a session of its own, where no signal to the daemon's
		// process group reaches it. The daemon ends only after that process has written its id:
		// the supervisor may kill the process at any time after that.
		"daemon": func([]string) {
			if err := again("orphan", true).Wait(); err != nil {
				panic(err)
			}
		},
		"orphan": func([]string) {
			cmd := command("sleep", true)
			cmd.Stdout = nil
			out, err := cmd.StdoutPipe()
			if err != nil {
				panic(err)
			}
			if err := cmd.Start(); err != nil {
				panic(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				panic(err)
			}
			fmt.Print(line)
		},
		"fork": func([]string) {
			again("orphan", true)
			again("ignore SIGTERM", true)
			time.Sleep(patience)
		},
		"harness": func(args []string) {
			_, err := Start(Command{Args: []string{os.Args[0]}, Env: environ(args[0]), Output: os.Stdout, StopDelay: 100 * time.Millisecond})
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			time.Sleep(patience)
		},
		"environment": func([]string) {
			dir, _ := os.Getwd()
			fmt.Println(dir, os.Args[1:], os.Environ())
		},
	}
}

// environ returns the environment of a program with the given role.
func environ(role string) []string { return []string{roleVariable + "=" + role} }

// again starts this test binary in another role.
func again(role string, session bool) *exec.Cmd {
	cmd := command(role, session)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// command returns the command that runs this test binary in another role.
func command(role string, session bool) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	if runtime.GOOS != "linux" {
		cmd.Path, _ = os.Executable()
	}
	cmd.Env, cmd.Stdout, cmd.Stderr = environ(role), os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	return cmd
}

// An output collects what a program writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// pids waits until n processes have written their ids. It returns these ids.
func (o *output) pids(t *testing.T, n int) (pids []int) {
	t.Helper()
	within(t, fmt.Sprintf("%d process ids", n), func() bool {
		pids = nil
		for line := range strings.Lines(o.String()) {
			var pid int
			if _, err := fmt.Sscanf(line, "pid %d\n", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) >= n
	})
	return pids
}

// within waits until ok returns true.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, patience)
		}
	}
}

// run starts a program with a role. It is stopped when t ends.
func run(t *testing.T, role string, args ...string) (*Program, *output) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	o := &output{}
	p, err := Start(Command{Args: append([]string{self}, args...), Env: environ(role), Output: o, StopDelay: time.Second})
	assert.NilError(t, err)
	t.Cleanup(func() {
		_, err := p.Stop()
		assert.Check(t, err)
	})
	return p, o
}

// wait waits until the first process of p has ended.
func wait(t *testing.T, p *Program) {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}
}

// TestStop checks how programs are stopped, and that nothing is left of them.
func TestStop(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	own := filepath.Base(self)
	own = own[:min(len(own), 15)] // Linux keeps 15 bytes of the name, see proc_pid_comm(5)
	for _, tt := range []struct {
		role         string
		pids         int
		end, killed  string // killed must be in the list of what was killed
		linux        bool   // the test needs to find the descendants of a process
		alreadyEnded bool
	}{
		{role: "sleep", pids: 1, end: "signal: terminated"},
		{role: "ignore SIGTERM", pids: 1, end: "signal: killed", killed: own + " (process "},
		{role: "fork", pids: 4, end: "signal: terminated", killed: "(process ", linux: true},
		{role: "daemon", pids: 3, end: "exit status 0, and left other processes behind: ", linux: true, alreadyEnded: true},
	} {
		t.Run(tt.role, func(t *testing.T) {
			t.Parallel()
			if tt.linux && runtime.GOOS != "linux" {
				t.Skip("this system does not tell which processes descend from another")
			}
			p, o := run(t, tt.role)
			pids := o.pids(t, tt.pids)
			if tt.killed != "" {
				within(t, "ignoring", func() bool { return strings.Contains(o.String(), "ignoring") })
			}
			if tt.alreadyEnded {
				wait(t, p)
			}
			killed, err := p.Stop()
			assert.NilError(t, err)
			wait(t, p)
			assert.Assert(t, strings.HasPrefix(p.End(), tt.end), "%s", p.End())
			assert.Assert(t, (killed == "") == (tt.killed == "") && strings.Contains(killed, tt.killed), "killed %q", killed)
			for _, pid := range pids {
				assert.Check(t, !runs(pid), "%d of %v still runs", pid, pids)
			}
			again, err := p.Stop()
			assert.NilError(t, err)
			assert.Equal(t, again, killed)
		})
	}
}

// TestEnd checks what the error says about a program that ends without being stopped.
func TestEnd(t *testing.T) {
	for code, want := range map[string]string{"0": "exit status 0", "3": "exit status 3"} {
		p, _ := run(t, "exit", code)
		wait(t, p)
		assert.Equal(t, p.End(), want)
	}
	p, o := run(t, "sleep")
	assert.NilError(t, syscall.Kill(o.pids(t, 1)[0], syscall.SIGKILL))
	wait(t, p)
	assert.Equal(t, p.End(), "signal: killed")
}

// TestHarnessDies ends the process that has started a program, in several ways, or ends the
// supervisor. In each case nothing may be left.
func TestHarnessDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell which processes descend from another")
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("the harness would ignore the signal, as this process does, which a shell started in the background")
			}
			t.Parallel()
			o := &output{}
			harness := exec.Command("/proc/self/exe", "fork")
			harness.Env, harness.Stdout, harness.Stderr = environ("harness"), o, o
			harness.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			assert.NilError(t, harness.Start())
			pids := o.pids(t, 5)
			within(t, "ignoring", func() bool { return strings.Contains(o.String(), "ignoring") })
			assert.NilError(t, syscall.Kill(-harness.Process.Pid, sig)) // a terminal does the same
			_ = harness.Wait()                                          // this also waits until the output is closed
			for _, pid := range pids {
				within(t, fmt.Sprintf("end of process %d of %v", pid, pids), func() bool { return !runs(pid) })
			}
		})
	}
	t.Run("the supervisor is killed", func(t *testing.T) {
		t.Parallel()
		p, o := run(t, "sleep")
		pid := o.pids(t, 1)[0]
		assert.NilError(t, p.run.cmd.Process.Kill())
		wait(t, p)
		assert.Equal(t, p.End(), "its supervisor ended: signal: killed")
		within(t, "end of the program", func() bool { return !runs(pid) })
	})
	t.Run("the supervisor is terminated", func(t *testing.T) {
		t.Parallel()
		p, o := run(t, "sleep")
		pid := o.pids(t, 1)[0]
		assert.NilError(t, p.run.cmd.Process.Signal(syscall.SIGTERM))
		wait(t, p)
		assert.Equal(t, p.End(), "signal: terminated")
		within(t, "end of the program", func() bool { return !runs(pid) })
	})
}

func TestStartErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"no command": nil,
		`exec: "no-such-program-anywhere": executable file not found in $PATH`: {"no-such-program-anywhere"},
		"no such file or directory": {"./no-such-program"},
	} {
		_, err := Start(Command{Args: args, Dir: t.TempDir()})
		assert.ErrorContains(t, err, want)
	}
	file := t.TempDir() + "/text"
	assert.NilError(t, os.WriteFile(file, []byte("no program"), 0o755))
	_, err := Start(Command{Args: []string{file}})
	assert.ErrorContains(t, err, "exec format error")
}

// TestEnvironment checks that a program sees only the environment that its command gives it.
func TestEnvironment(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	dir, o := t.TempDir(), &output{}
	p, err := Start(Command{Args: []string{self, "a b", ""}, Dir: dir, Env: append(environ("environment"), "A=b"), Output: o})
	assert.NilError(t, err)
	wait(t, p)
	_, err = p.Stop()
	assert.NilError(t, err)
	_, text, _ := strings.Cut(o.String(), "\n")
	assert.Assert(t, strings.Contains(text, dir+" [a b ] ["+roleVariable+"=environment A=b"), "%s", text)
}
