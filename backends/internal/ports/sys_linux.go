package ports

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// refuseTimeWait makes listening on a port fail if the port has a connection in the state TIME_WAIT. It
// clears SO_REUSEADDR (socket(7)), which package net sets.
func refuseTimeWait(_, _ string, c syscall.RawConn) (err error) {
	controlErr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(controlErr, err)
}

// reserved holds the reservations of this process, the oldest first.
var reserved struct {
	sync.Mutex
	sockets []net.PacketConn
}

// maxReserved is the largest number of reservations of a process. The oldest one ends for a new one: its server has
// started long ago.
const maxReserved = 64

// reserve reserves a port among the processes of this network namespace that call reserve, and reports whether the port
// was free. A reservation is a socket with an abstract name (unix(7)), which ends with the process.
func reserve(port string) bool {
	socket, err := net.ListenPacket("unixgram", "@llmbench-port-"+port)
	if errors.Is(err, syscall.EADDRINUSE) {
		return false
	}
	if err != nil { // a sandbox may forbid such sockets
		return true
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.sockets = append(reserved.sockets, socket)
	if len(reserved.sockets) > maxReserved {
		reserved.sockets[0].Close()
		reserved.sockets = reserved.sockets[1:]
	}
	return true
}
