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
		"-np", strconv.Itoa(o.Parallel), "-c", strconv.Itoa(o.Parallel * o.Context), // llama-server divides the context among the slots
		"--no-ui", "--metrics",
	}, o.Args...)
}

// freeAddr returns the host and the port of addr, or a free port of 127.0.0.1 if addr
// is "". It is an error if something listens there. If another process takes the
// port before the server does, the server ends with an error.
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
