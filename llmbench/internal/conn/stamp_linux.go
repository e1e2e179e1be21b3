package conn

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stampedReader reads from a TCP connection. With the bytes, it returns the kernel's timestamp of their
// arrival (SO_TIMESTAMPNS, https://docs.kernel.org/networking/timestamping.html). Deadlines and Close end
// its reads like the reads of any connection.
type stampedReader struct {
	conn *net.TCPConn
	raw  syscall.RawConn

	mu      sync.Mutex // guards the fields below; all but queue belong to one read
	piece   piece
	err     error
	lend    bool        // the read uses a buffer of the pool, which is taken once there are bytes
	lent    *buffers    // this buffer
	to      []byte      // where the read stores the bytes
	message unix.Msghdr // reused, because unix.Recvmsg would allocate one for each read
	part    unix.Iovec
	control [64]byte
	receive func(fd uintptr) bool
	queue   queue
}

// ownBuffer is the size of the receive buffer of a loopback connection, in bytes. Linux begins with the
// same size, but would make the buffer larger later.
const ownBuffer = 64 << 10

// sharedBuffer is the same for a connection that streams of HTTP/2 share. If a buffer is full, the kernel copies small
// segments together, and their timestamps are lost. The kernel may allow less (net.core.rmem_max).
const sharedBuffer = 4 << 20

// keepSegmentsApart returns the Control function of a [net.Dialer]. It fixes the size of the receive buffer of a
// loopback connection. The kernel then acknowledges the first segments less often, and joins fewer of them
// (see the package documentation). Connections to distant servers keep the usual buffer, because the fixed
// size would limit their speed. It is not an error if a kernel refuses the size: it only joins more
// segments. The argument shared says that streams share the connection.
func keepSegmentsApart(shared bool) func(network, address string, c syscall.RawConn) error {
	size := ownBuffer
	if shared {
		size = sharedBuffer
	}
	return func(_, address string, c syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
			return nil
		}
		return c.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, size) })
	}
}

// keepStamping makes the kernel stamp packets until the process ends. Without it, the kernel would stop a
// moment after the last socket that asked for timestamps was closed. This moment may be after the first
// reads of the next socket (see awaitStamps), and its later reads would then lack timestamps.
var keepStamping = sync.OnceFunc(func() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) != nil {
		unix.Close(fd)
	}
})

// newStampedReader returns a reader of c. It returns nil if the kernel provides no timestamps, because c is
// not a TCP connection or because the kernel refuses the option.
func newStampedReader(c net.Conn) *stampedReader {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return nil
	}
	keepStamping()
	s := &stampedReader{conn: tcp, raw: raw}
	s.receive = s.tryReceive
	return s
}

// outOfOrder returns how many segments have arrived out of order (tcpi_rcv_ooopack,
// https://man7.org/linux/man-pages/man7/tcp.7.html; 0 on kernels before 5.4). It returns false once the
// connection is closed.
func (s *stampedReader) outOfOrder() (n int64, ok bool) {
	q := s.askInfo()
	defer infoQueries.Put(q)
	return int64(q.info.Rcv_ooopack), q.ok
}

// unread returns how many bytes have arrived but were not read. It returns false if this is unknown.
func (s *stampedReader) unread() (n int, ok bool) {
	var refused error
	err := s.raw.Control(func(fd uintptr) {
		n, refused = unix.IoctlGetInt(int(fd), unix.SIOCINQ)
	})
	return n, err == nil && refused == nil
}

// sinceSent returns a lower bound of the time since the kernel last sent data, or 0 if this is unknown. The
// kernel counts in whole milliseconds of its coarse clock.
func (s *stampedReader) sinceSent() time.Duration {
	q := s.askInfo()
	defer infoQueries.Put(q)
	if !q.ok {
		return 0
	}
	return max(0, time.Duration(q.info.Last_data_sent)*time.Millisecond-tick()-time.Millisecond)
}

// lookBack returns the kernel's information about a connection that the peer has ended. It returns nil if
// the connection is closed, and on kernels before 4.6, which do not have all of this information.
//
// Bytes_acked also counts the SYN. Last_data_sent and Last_ack_recv are the times since these events, each
// with an error of one tick of the kernel's coarse clock.
func (s *stampedReader) lookBack() *lookBack {
	q := s.askInfo()
	defer infoQueries.Put(q)
	info := &q.info
	if !q.ok || info.Bytes_acked == 0 {
		return nil
	}
	k := &lookBack{acked: int64(info.Bytes_acked) - 1}
	k.fin = tick() + max(0, time.Duration(info.Last_data_sent)-time.Duration(info.Last_ack_recv))*time.Millisecond
	if info.Min_rtt != math.MaxUint32 { // MaxUint32 means that there is no measurement
		k.minRTT = time.Duration(info.Min_rtt) * time.Microsecond
	}
	return k
}

// tick returns the resolution of the kernel's coarse clock, which is at most 10 ms.
var tick = sync.OnceValue(func() time.Duration {
	var t unix.Timespec
	if unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &t) != nil {
		return 10 * time.Millisecond
	}
	return time.Duration(t.Nano())
})

// An infoQuery asks the kernel for TCP_INFO. Queries are reused: a pass makes one for nearly each batch of
// bytes, and unix.GetsockoptTCPInfo would allocate memory for each answer.
type infoQuery struct {
	info unix.TCPInfo // parts that the kernel does not support are 0
	ok   bool         // the kernel has answered
	ask  func(fd uintptr)
}

// infoQueries holds queries that are not in use.
var infoQueries = sync.Pool{New: func() any {
	q := &infoQuery{}
	q.ask = q.getsockopt
	return q
}}

// askInfo returns a query with the kernel's answer. The query is not ok if the connection is closed. The
// caller must put the query back into infoQueries.
func (s *stampedReader) askInfo() *infoQuery {
	q := infoQueries.Get().(*infoQuery)
	q.info, q.ok = unix.TCPInfo{}, false
	s.raw.Control(q.ask)
	return q
}

// getsockopt asks the kernel, and sets info and ok. It uses a raw system call for the reason that recvmsg
// gives.
func (q *infoQuery) getsockopt(fd uintptr) {
	size := uint32(unsafe.Sizeof(q.info))
	_, _, err := unix.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_TCP, unix.TCP_INFO, uintptr(unsafe.Pointer(&q.info)), uintptr(unsafe.Pointer(&size)), 0)
	q.ok = err == 0
}

// read reads into p, but at most the bytes of one timestamp.
func (s *stampedReader) read(p []byte) (piece, error) {
	if len(p) == 0 {
		return piece{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lend, s.to = false, p
	return s.wait()
}

// borrow is like read, but reads into buffers that it takes from the pool once there is something to read.
// It returns these buffers, or nil after an error.
func (s *stampedReader) borrow() (b *buffers, p piece, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lend = true
	p, err = s.wait()
	b, s.lent = s.lent, nil
	return b, p, err
}

// wait performs a read. It waits until there is something to read.
func (s *stampedReader) wait() (piece, error) {
	s.piece, s.err = piece{}, nil
	err := s.raw.Read(s.receive)
	s.to = nil
	switch {
	case err != nil: // a deadline passed, or the connection is closed
		if op, ok := errors.AsType[*net.OpError](err); ok {
			op.Op, op.Source, op.Addr = "read", s.conn.LocalAddr(), s.conn.RemoteAddr()
		}
		return piece{}, err
	case s.err != nil:
		return piece{}, &net.OpError{Op: "read", Net: "tcp", Source: s.conn.LocalAddr(), Addr: s.conn.RemoteAddr(), Err: os.NewSyscallError("recvmsg", s.err)}
	case s.piece.n == 0:
		return piece{}, io.EOF
	}
	return s.piece, nil
}

// tryReceive reads what has arrived. It reports whether the read is finished; if not, the caller must wait
// for more bytes.
func (s *stampedReader) tryReceive(fd uintptr) bool {
	if k := &s.queue; k.began && len(k.runs) == 0 {
		if !s.piece.waited {
			// Mostly nothing has arrived yet, and this single system call is enough to find out.
			if n, _, err := s.recvmsg(fd, &nowhere[0], 1, unix.MSG_PEEK|unix.MSG_TRUNC); err != 0 || n == 0 {
				return s.done(err)
			}
		}
		s.look(fd)
	}
	if s.lend {
		s.lent = takeBuffers()
		s.to = s.lent.bytes[:]
	}
	done := s.done(s.take(fd))
	if s.lend && s.piece.n == 0 {
		s.lent.giveBack()
		s.lent, s.to = nil, nil
	}
	return done
}

// done stores the error of a system call. It reports whether the read is finished.
func (s *stampedReader) done(err unix.Errno) bool {
	switch err {
	case 0:
	case unix.EAGAIN:
		s.piece.waited = true
		return false
	default:
		s.err = err
	}
	return true
}

// take reads the next bytes into s.to: bytes of the first run, or bytes of everything that has arrived if
// there are no runs.
func (s *stampedReader) take(fd uintptr) unix.Errno {
	k, p := &s.queue, &s.piece
	to := s.to[:min(len(s.to), maxLookBytes)]
	if len(k.runs) == 0 {
		n, stamp, err := s.recvmsg(fd, &to[0], len(to), 0)
		p.n, p.stamp, p.more, p.several = n, stamp, n == len(to), true
		k.bytes += int64(n)
		return err
	}
	r := &k.runs[0]
	want := min(len(to), r.n)
	n, stamp, err := s.recvmsg(fd, &to[0], want, 0)
	if err != 0 {
		return err
	}
	// A segment that arrived after the look may have been joined to the run. The run then has the timestamp
	// of this segment, and the segment's bytes are still to be read.
	joined := r.stamp == 0 && stamp > k.looked
	p.n, p.stamp, p.several, p.more = n, stamp, k.several || joined, joined
	if r.stamp != 0 {
		p.stamp = r.stamp
	}
	if r.n -= n; r.n > 0 && n == want {
		p.more = true
		if !p.several { // the rest of the run keeps this timestamp, even if segments are joined to it
			r.stamp = p.stamp
		}
		return 0
	}
	// This run ends here. It may be shorter than r.n, because the kernel counts the end of the connection
	// as a byte.
	k.runs = k.runs[:copy(k.runs, k.runs[1:])]
	return 0
}

// waits reports whether bytes that have arrived are known to wait to be read.
func (s *stampedReader) waits() bool { return len(s.queue.runs) > 0 }

// recvmsg receives up to n bytes into base. It returns the number of bytes, and the timestamp of the last
// byte or 0.
//
// The call does not wait, and n is at most maxLookBytes, so the call takes microseconds. RawSyscall does not
// tell Go's scheduler about the call, which would need a noticeable part of the CPU time of a chunk that comes
// alone.
func (s *stampedReader) recvmsg(fd uintptr, base *byte, n, flags int) (int, int64, unix.Errno) {
	s.part.Base = base
	s.part.SetLen(n)
	defer func() { s.part.Base = nil }()
	for {
		s.message = unix.Msghdr{Iov: &s.part, Control: &s.control[0]}
		s.message.SetIovlen(1)
		s.message.SetControllen(len(s.control))
		got, _, err := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.message)), uintptr(flags|unix.MSG_DONTWAIT))
		switch err {
		case unix.EINTR:
			continue
		case 0:
			return int(got), stampIn(s.control[:s.message.Controllen]), 0
		}
		return 0, 0, err
	}
}

// stampIn returns the timestamp in the control messages of a received message, or 0.
func stampIn(controls []byte) int64 {
	for len(controls) >= unix.SizeofCmsghdr {
		head, data, rest, err := unix.ParseOneSocketControlMessage(controls)
		if err != nil {
			return 0
		}
		if head.Level == unix.SOL_SOCKET && head.Type == unix.SCM_TIMESTAMPNS {
			order := binary.NativeEndian
			switch len(data) { // a timespec in native byte order
			case 16:
				return int64(order.Uint64(data))*1e9 + int64(order.Uint64(data[8:]))
			case 8:
				return int64(int32(order.Uint32(data)))*1e9 + int64(int32(order.Uint32(data[4:])))
			}
		}
		controls = rest
	}
	return 0
}
