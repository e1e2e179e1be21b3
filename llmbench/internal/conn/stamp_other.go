//go:build !linux

package conn

import (
	"net"
	"time"
)

// A stampedReader exists on Linux only.
type stampedReader struct{}

// newStampedReader returns nil: there are no kernel timestamps on this system.
func newStampedReader(net.Conn) *stampedReader { return nil }

func (*stampedReader) counts() (c segmentCounts, ok bool) { return segmentCounts{}, false }

func (*stampedReader) lookBack() *lookBack { return nil }

func (*stampedReader) unread() (n int, ok bool) { return 0, false }

func (*stampedReader) sinceSent() time.Duration { return 0 }

func (*stampedReader) read([]byte) (n int, stamp int64, waited bool, err error) {
	panic("conn: a stampedReader on a system without kernel timestamps")
}

func (*stampedReader) borrow() (b *buffers, n int, stamp int64, waited bool, err error) {
	panic("conn: a stampedReader on a system without kernel timestamps")
}
