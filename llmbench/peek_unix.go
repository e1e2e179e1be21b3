//go:build unix && !aix

package llmbench

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peek looks what there is to read of a connection that nobody reads.
func peek(c net.Conn) peeked {
	on, ok := c.(syscall.Conn)
	if !ok {
		return peekUnknown
	}
	raw, err := on.SyscallConn()
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

// peekFD is peek of a descriptor.
func peekFD(fd int) peeked {
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
