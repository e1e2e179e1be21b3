//go:build !unix || aix

package conn

import "net"

// peek knows nothing on this system.
func peek(net.Conn) peekResult { return peekUnknown }
