//go:build !unix || aix

package conn

import "net"

// peekSocket cannot tell anything on this system.
func peekSocket(net.Conn) peekResult { return peekUnknown }
