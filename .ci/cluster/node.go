//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

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
	Socket     string     // the second daemon is started when this file is there; "" means at once
	Private    []string   // folders, of which the node has empty ones of its own
	Sysctls    []string   // files, of which the node has copies of its own
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

// setNetwork gives this node its address and routes, and lets it forward for its pods.
func (m machine) setNetwork() error {
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
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) // of this namespace
}

// hideFiles gives this node folders and files of its own in place of those of the whole machine.
func (m machine) hideFiles() error {
	for _, path := range m.Private {
		if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	for i, path := range m.Sysctls {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		own := filepath.Join(filepath.Dir(m.Log), "..", fmt.Sprintf("%s-sysctl-%d", m.Name, i))
		if err := errors.Join(os.WriteFile(own, text, 0o644), hide(path, own)); err != nil {
			return err
		}
	}
	return nil
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
	if err := errors.Join(m.setNetwork(), m.hideFiles()); err != nil {
		return err
	}
	log, err := os.Create(m.Log)
	if err != nil {
		return err
	}
	daemons := map[int]string{}
	for i, args := range m.Commands {
		if i == 1 && m.Socket != "" {
			if err := until(context.Background(), time.Minute, func() error { _, err := os.Stat(m.Socket); return err }); err != nil {
				return err
			}
		}
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
