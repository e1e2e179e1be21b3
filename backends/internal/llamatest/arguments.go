package llamatest

import (
	"net"
	"path/filepath"
	"strconv"
)

// arguments returns the arguments of llama-server.
func arguments(o Options, model, host, port string) []string {
	return append([]string{
		"-m", "/models/" + filepath.Base(model),
		"--host", host, "--port", port,
		"-t", "1",
		"-np", strconv.Itoa(o.Parallel), "-c", strconv.Itoa(o.Parallel * o.Context), // the slots share the context
		"--no-ui", "--metrics",
	}, o.Args...)
}

// freeAddr returns addr, or a port of 127.0.0.1 when it is empty, and that
// nothing listens there. Another process may take it before the server does;
// the server then ends and says so.
func freeAddr(addr string) (host, port string, err error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	return net.SplitHostPort(l.Addr().String())
}
