//go:build !unix || aix

package conn

import "net"

// peekSocket knows nothing on this system.
func peekSocket(net.Conn) peekResult { return peekUnknown }
