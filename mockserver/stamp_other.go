//go:build !linux

package mockserver

import (
	"net"
	"time"
)

// stamped returns ln: only Linux says when it received bytes.
func stamped(ln net.Listener) net.Listener { return ln }

// sinceReceived returns false: when the kernel received the bytes that were read last from a connection is unknown.
func sinceReceived(net.Conn) (ago time.Duration, known bool) { return 0, false }
