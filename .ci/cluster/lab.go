//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// inside are the commands that this program starts itself, in namespaces.
var inside = map[string]func(args []string) error{"lab": runLab, "node": runNode}

// The network of a lab.
const (
	bridge   = "lab"
	network  = "10.77.0"
	headAddr = network + ".1" // of the daemons of the engine, and of the simulated server
	mockPort = "8000"
	mockURL  = "http://" + headAddr + ":" + mockPort
)

// A lab is the namespaces in which an engine runs. Its folder is shared by all nodes.
type lab struct {
	dir   string
	mock  *mock
	nodes []*node
}

// runLab runs the checks of an engine as the first process of namespaces.
func runLab(args []string) error {
	if len(args) != 2 || os.Getpid() != 1 {
		return errors.New("want to be started by cluster itself")
	}
	ctx := context.Background() // the namespaces end with their first process
	e, l := engines[args[0]], &lab{dir: args[1]}
	if err := l.open(ctx, e); err != nil {
		return err
	}
	began := time.Now()
	p, err := e.up(ctx, l)
	if err != nil {
		return errors.Join(err, l.logs())
	}
	fmt.Printf("%s is up after %.1f s\n", args[0], time.Since(began).Seconds())
	if err := check(ctx, l, p); err != nil {
		return errors.Join(err, l.logs())
	}
	return nil
}

// open sets up the network of the lab, and starts the simulated server.
func (l *lab) open(ctx context.Context, e engine) error {
	if err := ownMounts("head"); err != nil {
		return err
	}
	for _, f := range []string{"log", "records"} {
		if err := os.MkdirAll(filepath.Join(l.dir, f), 0o755); err != nil {
			return err
		}
	}
	for _, line := range []string{
		"ip link set lo up",
		"ip link add " + bridge + " type bridge",
		"ip addr add " + headAddr + "/24 dev " + bridge,
		"ip link set " + bridge + " up",
	} {
		if _, err := command(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	var err error
	l.mock, err = startMock(headAddr + ":" + mockPort)
	return err
}

// ownMounts lets this process, which has namespaces of its own, see its own processes and host name.
func ownMounts(hostname string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return syscall.Sethostname([]byte(hostname))
}

// hide lets a path show what another path shows, in this mount namespace and those made of it.
func hide(path, shows string) error {
	if err := syscall.Mount(shows, path, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", shows, path, err)
	}
	return nil
}

// command runs a command, for at most a minute, and returns its standard output.
func command(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// daemon starts a command that runs until the lab ends. Its output is in the log of that name.
func (l *lab) daemon(name string, args ...string) error {
	log, err := os.Create(filepath.Join(l.dir, "log", name))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		err := cmd.Wait()
		fmt.Fprintf(os.Stderr, "%s has ended: %v\n", name, err)
	}()
	return nil
}

// until calls f again and again until it returns nil, and returns its error after the limit.
func until(ctx context.Context, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %w", limit, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// lastLines is how many lines of each log are shown after an error.
const lastLines = 8

// logs returns the ends of the logs of all daemons as an error.
func (l *lab) logs() error {
	files, err := filepath.Glob(filepath.Join(l.dir, "log", "*"))
	slices.Sort(files)
	all := []error{err}
	for _, f := range files {
		text, err := os.ReadFile(f)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all = append(all, err, fmt.Errorf("the end of the log of %s:\n\t%s", filepath.Base(f), strings.Join(lines[max(0, len(lines)-lastLines):], "\n\t")))
	}
	return errors.Join(all...)
}

// A node is a machine of the lab.
type node struct {
	name, addr string
	cmd        *exec.Cmd
}

// A machine says what a node is.
type machine struct {
	Name, Addr string     // the address without the length of the network
	Routes     [][]string // further arguments of ip route add
	Commands   [][]string // the daemons
	Log        string     // file with their output
}

// start starts a node.
func (l *lab) start(ctx context.Context, m machine) (*node, error) {
	m.Log = filepath.Join(l.dir, "log", m.Name)
	cmd, err := self(ctx, "node")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	namespaced(cmd)
	n := &node{name: m.Name, addr: m.Addr, cmd: cmd}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel kills the node when this thread ends
		started <- cmd.Start()
		if cmd.Process != nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	l.nodes = append(l.nodes, n)
	for _, line := range []string{
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", m.Name, cmd.Process.Pid),
		fmt.Sprintf("ip link set %s master %s up", m.Name, bridge),
	} {
		if _, err := command(ctx, strings.Fields(line)...); err != nil {
			return nil, err
		}
	}
	_, err = in.Write(text) // the node waits for it
	return n, errors.Join(err, in.Close())
}

// kill ends a node as a loss of power does: nobody hears from it any more.
func (l *lab) kill(ctx context.Context, n *node) error {
	if _, err := command(ctx, "ip", "link", "set", n.name, "down"); err != nil {
		return err
	}
	return n.cmd.Process.Kill()
}

// runNode is the first process of a node. It starts the daemons, and waits for all processes of the
// node that nobody else waits for, as init does. It ends when a daemon ends.
func runNode([]string) error {
	var m machine
	if err := json.NewDecoder(os.Stdin).Decode(&m); err != nil {
		return err
	}
	if err := ownMounts(m.Name); err != nil {
		return err
	}
	lines := [][]string{
		strings.Fields("ip link set lo up"),
		strings.Fields("ip addr add " + m.Addr + "/24 dev eth0"),
		strings.Fields("ip link set eth0 up"),
		strings.Fields("ip route add default via " + headAddr),
	}
	for _, r := range m.Routes {
		lines = append(lines, append([]string{"ip", "route", "add"}, r...))
	}
	for _, line := range lines {
		if _, err := command(context.Background(), line...); err != nil {
			return err
		}
	}
	log, err := os.Create(m.Log)
	if err != nil {
		return err
	}
	daemons := map[int]string{}
	for _, args := range m.Commands {
		path, err := exec.LookPath(args[0])
		if err != nil {
			return err
		}
		// Not with os/exec, which would wait for the process too.
		p, err := os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{nil, log, log}, Env: os.Environ()})
		if err != nil {
			return err
		}
		daemons[p.Pid] = args[0]
	}
	for {
		pid, err := syscall.Wait4(-1, nil, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if name, ok := daemons[pid]; ok || err != nil {
			return fmt.Errorf("%s: %s has ended (%v)", m.Name, name, err)
		}
	}
}
