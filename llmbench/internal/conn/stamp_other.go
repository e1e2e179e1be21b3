//go:build !linux

package conn

import (
	"net"
	"syscall"
	"time"
)

// keepSegmentsApart returns nil, because this system has no kernel timestamps.
func keepSegmentsApart(bool) func(network, address string, c syscall.RawConn) error { return nil }

// A stampedReader is only used on Linux.
type stampedReader struct{}

// newStampedReader returns nil, because this system has no kernel timestamps.
func newStampedReader(net.Conn) *stampedReader { return nil }

func (*stampedReader) outOfOrder() (n int64, ok bool) { return 0, false }

func (*stampedReader) lookBack() *lookBack { return nil }

func (*stampedReader) mark() {}

func (*stampedReader) waits() bool { return false }

func (*stampedReader) sinceSent() time.Duration { return 0 }

func (*stampedReader) read([]byte) (piece, error) {
	panic("conn: a stampedReader on a system without kernel timestamps")
}

func (*stampedReader) borrow() (*buffers, piece, error) {
	panic("conn: a stampedReader on a system without kernel timestamps")
}
