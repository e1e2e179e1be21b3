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
	"syscall"
	"time"
)

// A node is a machine of the lab.
type node struct {
	name, addr string
	cmd        *exec.Cmd
}

// A machine describes what a node is like.
type machine struct {
	Name, Addr string     // the address is without the length of the network
	Routes     []string   // the arguments of ip route add, for each further route
	Commands   [][]string // the commands of the daemons
	Socket     string     // the second daemon is started when this file exists; "" means at once
	Private    []string   // folders in place of which the node sees empty folders of its own
	Sysctls    []string   // files in place of which the node sees copies of its own
	Log        string     // the file with the output of the daemons
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
	if err := commands(ctx,
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", m.Name, cmd.Process.Pid),
		fmt.Sprintf("ip link set %s master %s up", m.Name, bridge),
	); err != nil {
		return nil, err
	}
	_, err = in.Write(text) // the node waits for this text
	return n, errors.Join(err, in.Close())
}

// kill ends a node as a loss of power would: the other machines hear nothing from it any more.
func (l *lab) kill(ctx context.Context, n *node) error {
	if _, err := command(ctx, "ip", "link", "set", n.name, "down"); err != nil {
		return err
	}
	return n.cmd.Process.Kill()
}

// setNetwork gives this node its address and its routes, and lets it forward packets for its pods.
func (m machine) setNetwork() error {
	lines := []string{"ip link set lo up", "ip addr add " + m.Addr + "/24 dev eth0", "ip link set eth0 up", "ip route add default via " + headAddr}
	for _, r := range m.Routes {
		lines = append(lines, "ip route add "+r)
	}
	if err := commands(context.Background(), lines...); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) // the file of this network namespace
}

// hideFiles puts files and folders of this node in the place of the whole machine's files and folders.
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

// runNode is the first process of a node. It starts the daemons. Like init, it also waits for those
// processes of the node for which no other process waits. It ends when a daemon ends.
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
		// This does not use os/exec, which would wait for the process too.
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
