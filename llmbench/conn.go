package llmbench

import (
	"net"
	"sync"
	"sync/atomic"
)

// A conn is a connection of a dialer. It keeps the kernel's stamp of what was
// read last, and tells the request it carries when its first byte is written.
type conn struct {
	net.Conn
	top    net.Conn       // itself, or TLS on top of it
	kernel *stampedReader // or nil: the kernel stamps nothing here
	stamp  atomic.Int64   // of the last Read, on the wall clock; 0: it has none
	newest atomic.Int64   // of the stamps since the request that is under way has it
	strays func() (n int64, ok bool)
	stray  atomic.Int64 // what that last said
	rider  atomic.Pointer[instants]
	dialer *dialer
	once   sync.Once
}

// Read reads what has come. One Read has one stamp, that of the last segment it
// took: what several segments brought is attributed to the last of them. One that
// is before a stamp that was read earlier is of no use: segments were lost, and
// those behind them keep the stamps of when they came.
func (c *conn) Read(p []byte) (int, error) {
	if c.kernel == nil {
		return c.Conn.Read(p)
	}
	n, stamp, err := c.kernel.read(p)
	if n > 0 {
		c.stamp.Store(c.inOrder(stamp))
	}
	return n, err
}

// inOrder returns a stamp, or 0 if it is before the newest.
func (c *conn) inOrder(stamp int64) int64 {
	if stamp < c.newest.Load() {
		return 0
	}
	c.newest.Store(stamp)
	return stamp
}

// countStrays is how many segments have come out of their order; of a connection
// that is closed, as many as had then.
func (c *conn) countStrays() int64 {
	if c.strays != nil {
		if n, ok := c.strays(); ok {
			c.stray.Store(n)
		}
	}
	return c.stray.Load()
}

// Write writes p, and tells the request that is under way before and after.
// (httptrace's WroteRequest comes before what is buffered is written.)
func (c *conn) Write(p []byte) (int, error) {
	i := c.rider.Load()
	if i == nil {
		return c.Conn.Write(p)
	}
	i.sent.CompareAndSwap(0, int64(i.clock.now())+1)
	n, err := c.Conn.Write(p)
	if err == nil {
		i.written.Store(i.stamp())
	}
	return n, err
}

// Close closes the connection, and tells the dialer.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.countStrays()
		c.dialer.mu.Lock()
		c.dialer.open--
		c.dialer.mu.Unlock()
	})
	return c.Conn.Close()
}

// connOf returns the dialer's connection under c, or nil.
func connOf(c net.Conn) *conn {
	for {
		switch on := c.(type) {
		case *conn:
			return on
		case interface{ NetConn() net.Conn }: // TLS
			c = on.NetConn()
		default:
			return nil
		}
	}
}
