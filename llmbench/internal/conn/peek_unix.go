//go:build unix && !aix

package conn

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peekSocket is like peek, for a connection that may be a socket.
func peekSocket(c net.Conn) peekResult {
	sys, ok := c.(syscall.Conn)
	if !ok {
		return peekUnknown
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return peekUnknown
	}
	p := peekEnd
	raw.Read(func(fd uintptr) (done bool) {
		p = peekFD(int(fd))
		return true
	})
	return p
}

// peekFD is like peek, for a file descriptor.
func peekFD(fd int) peekResult {
	var b [1]byte
	for {
		n, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return peekNothing
		case err == nil && n > 0:
			return peekBytes
		}
		return peekEnd
	}
}
