// Package ports finds ports of this machine for servers that are to be started.
package ports

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreeAddr chooses a port from this range. The range is below the ports that Linux assigns to outgoing
// connections (ip_local_port_range in ip(7)). Otherwise a connection of another process might take the port
// before the server listens.
const (
	firstPort = 10000
	lastPort  = 32767
)

// FreeAddr returns the host and the port of addr, or a free port of 127.0.0.1 if addr is "". It returns an
// error if something listens on addr. On Linux, a free port has no connection in the state TIME_WAIT,
// because some servers cannot listen on such a port, and other processes that call FreeAddr do not get the port. Another
// program may still take the port before the server listens; the server then exits with an error.
func FreeAddr(addr string) (host, port string, err error) {
	if addr != "" {
		return tryAddr(addr, net.ListenConfig{})
	}
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if host, port, err := tryAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), net.ListenConfig{Control: refuseTimeWait}); err == nil && reserve(port) {
			return host, port, nil
		}
	}
	return tryAddr("127.0.0.1:0", net.ListenConfig{})
}

// tryAddr listens on addr for a moment, and returns its host and port.
func tryAddr(addr string, c net.ListenConfig) (host, port string, err error) {
	l, err := c.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	return net.SplitHostPort(l.Addr().String())
}
