//go:build !linux

package llmbench

import "net"

// A stampedReader is what only Linux has.
type stampedReader struct{}

// stamped returns nil: the kernel stamps nothing that can be had here.
func stamped(net.Conn) *stampedReader { return nil }

func (*stampedReader) strays() (n int64, ok bool) { return 0, false }

func (*stampedReader) read([]byte) (n int, stamp int64, err error) { panic("no such reader") }
