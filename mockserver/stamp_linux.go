package mockserver

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stamped returns a listener whose connections know when the kernel received what was read last. It returns ln itself
// if the kernel provides no timestamps.
func stamped(ln net.Listener) net.Listener {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return ln
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return ln
	}
	var refused error
	// Accepted sockets inherit the option. So the bytes that arrive before Accept returns have timestamps, too.
	err = raw.Control(func(fd uintptr) { refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	if err != nil || refused != nil {
		return ln
	}
	return stampListener{tcp}
}

// A stampListener is a listener whose connections are [stampConn]s.
type stampListener struct{ *net.TCPListener }

func (l stampListener) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	raw, err := c.SyscallConn()
	if err != nil {
		c.Close()
		return nil, err
	}
	return &stampConn{TCPConn: c, raw: raw}, nil
}

// A stampConn is a TCP connection that knows when the kernel received the bytes that were read last
// (SO_TIMESTAMPNS, https://docs.kernel.org/networking/timestamping.html). With TLS, a stampConn is below the TLS
// connection.
type stampConn struct {
	*net.TCPConn
	raw  syscall.RawConn
	last atomic.Int64 // nanoseconds since 1970 on the wall clock; 0 if unknown
}

// Read is like the Read of every connection.
func (c *stampConn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	var control [64]byte
	var controls int
	var failed error
	err = c.raw.Read(func(fd uintptr) bool {
		for failed = unix.EINTR; failed == unix.EINTR; {
			n, controls, _, _, failed = unix.Recvmsg(int(fd), p, control[:], unix.MSG_DONTWAIT)
		}
		return failed != unix.EAGAIN
	})
	switch {
	case err != nil: // a deadline passed, or the connection is closed
		if op, ok := errors.AsType[*net.OpError](err); ok {
			op.Op = "read" // it is raw-read, which net/http does not know
		}
		return 0, err
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("recvmsg", failed)}
	case n == 0:
		return 0, io.EOF
	}
	c.last.Store(stampIn(control[:controls]))
	return n, nil
}

// sinceReceived returns how long ago the kernel received the bytes that were read last from c. It returns false if that is
// unknown.
func sinceReceived(c net.Conn) (ago time.Duration, known bool) {
	s, ok := c.(*stampConn)
	if !ok {
		return 0, false
	}
	at := s.last.Load()
	return max(0, time.Duration(time.Now().UnixNano()-at)), at > 0
}

// stampIn returns the timestamp in control messages, in nanoseconds since 1970, or 0.
func stampIn(controls []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(controls)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SCM_TIMESTAMPNS {
			continue
		}
		order := binary.NativeEndian
		switch len(m.Data) { // a timespec in native byte order
		case 16:
			return int64(order.Uint64(m.Data))*1e9 + int64(order.Uint64(m.Data[8:]))
		case 8:
			return int64(int32(order.Uint32(m.Data)))*1e9 + int64(int32(order.Uint32(m.Data[4:])))
		}
	}
	return 0
}
