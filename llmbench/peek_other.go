//go:build !unix || aix

package llmbench

import "net"

// peek is what only Unix has.
func peek(net.Conn) peeked { return peekUnknown }
