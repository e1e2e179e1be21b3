//go:build !linux

package conn

import "net"

// A stampedReader exists on Linux only.
type stampedReader struct{}

// newStampedReader returns nil: there are no kernel timestamps on this system.
func newStampedReader(net.Conn) *stampedReader { return nil }

func (*stampedReader) reordered() (n int64, ok bool) { return 0, false }

func (*stampedReader) lookBack() *lookBack { return nil }

func (*stampedReader) read([]byte) (n int, stamp int64, err error) {
	panic("conn: a stampedReader on a system without kernel timestamps")
}
