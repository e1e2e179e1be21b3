package nginxtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/child"
)

const stopDelay = 5 * time.Second // from SIGTERM to SIGKILL

// run starts nginx with the prefix directory dir and waits until it answers. ctx bounds only the wait. stop
// ends nginx, and returns an error if nginx had exited by itself.
func run(ctx context.Context, command []string, dir string, o Options) (s *Server, stop func() error, err error) {
	s = &Server{h2c: o.HTTP2 && !o.TLS}
	if o.TLS {
		if s.CA, err = writeCertificate(dir); err != nil {
			return nil, nil, fmt.Errorf("nginxtest: %w", err)
		}
		s.CAFile = filepath.Join(dir, certFile)
	}
	socket, address, err := listen(o.Network, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("nginxtest: %w", err)
	}
	defer socket.Close()
	text, err := config(o, address)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, configFile), []byte(text), 0o644)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("nginxtest: %w", err)
	}
	log := new(serverlog.Log)
	cmd := exec.Command(command[0], arguments(command, dir)...)
	cmd.Dir = dir
	// The variable NGINX passes the file descriptors of sockets to nginx, as in the upgrade of a running
	// nginx (https://nginx.org/en/docs/control.html#upgrade). No other process can therefore take the port
	// in the meantime.
	cmd.Env = append([]string{"NGINX=3;"}, environment...)
	cmd.ExtraFiles = []*os.File{socket}
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd, stopDelay)
	if err != nil {
		return nil, nil, fmt.Errorf("nginxtest: %w", err)
	}
	s.pid = cmd.Process.Pid
	origin := "http://" + address
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		s.Socket, origin = path, "http://localhost"
	}
	if o.TLS {
		origin = strings.Replace(origin, "http", "https", 1)
	}
	s.URL = origin + o.Prefix
	transport := s.Transport()
	transport.DisableKeepAlives = true
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	if err := p.WaitReady(ctx, child.Answers(client, origin+readyPath, http.StatusNoContent)); err != nil {
		p.Stop()
		return nil, nil, fmt.Errorf("nginxtest: nginx at %s: %w; its last lines:\n%s", address, err, log)
	}
	return s, func() error { return p.Close("nginxtest: nginx at "+address, log) }, nil
}

// listen creates the socket on which nginx will listen. It returns the socket, and its address in the
// format of nginx's listen directive.
func listen(network, dir string) (socket *os.File, address string, err error) {
	var l net.Listener
	switch network {
	case "", "tcp4":
		l, err = net.Listen("tcp", "127.0.0.1:0")
	case "tcp6":
		l, err = net.Listen("tcp", "[::1]:0")
	case "unix":
		l, err = net.Listen("unix", filepath.Join(dir, socketFile))
	default:
		err = fmt.Errorf("network %q: want tcp4, tcp6 or unix", network)
	}
	if err != nil {
		return nil, "", err
	}
	defer l.Close()
	address = l.Addr().String()
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
		address = "unix:" + address
	}
	socket, err = l.(interface{ File() (*os.File, error) }).File()
	return socket, address, err
}
