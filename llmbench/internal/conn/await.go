package conn

import (
	"context"
	"net"
	"time"
)

// awaitTime is the maximum time to wait for the kernel to begin with timestamps. On an idle machine, the
// kernel begins within microseconds. On a busy machine, the kernel's worker has to wait for a CPU.
const awaitTime = 2 * time.Second

// awaitStamps waits until the kernel provides timestamps, but at most until ctx ends or awaitTime has
// passed. It reports whether the kernel provides them. To find out, it sends bytes over its own loopback
// connection.
//
// The kernel stamps packets only while a socket of the machine asks for timestamps. It begins with this a
// moment after the first socket has asked (net_enable_timestamp in
// https://github.com/torvalds/linux/blob/v6.12/net/core/dev.c).
func awaitStamps(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer ln.Close()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
	if err != nil {
		return false
	}
	reader := newConn(raw, 0, func() {})
	defer reader.Close()
	if reader.kernel == nil {
		return false
	}
	writer, err := ln.Accept()
	if err != nil {
		return false
	}
	defer writer.Close()
	stop := context.AfterFunc(ctx, func() { reader.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for pause := 10 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		if _, err := writer.Write([]byte{0}); err != nil {
			return false
		}
		if _, err := reader.Read(make([]byte, 1)); err != nil {
			return false
		}
		if reader.stamp != 0 {
			return true
		}
		time.Sleep(pause)
	}
}
