package conn

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Conn is one connection of a [Pool]. It keeps the kernel's timestamp of the last
// read, and records in the current request's [Trace] when the first byte is written.
// Except for Close and release, one goroutine uses it at a time.
type Conn struct {
	net.Conn
	stream net.Conn       // the Conn itself, or TLS on top of it
	in     *response      // reads from stream
	kernel *stampedReader // of the embedded Conn; nil without kernel timestamps
	plain  bool           // stream is the Conn itself, and there are kernel timestamps
	held   *buffers       // those that in reads from; nil unless plain, and while there is nothing to read
	next   []byte         // what await has read into held
	failed error          // the error of await
	stamp  int64          // kernel timestamp of the last Read, in ns since 1970; 0: none
	newest int64          // the newest timestamp since the current request took this connection
	batch  batch          // the bytes that were read last

	visible   bool   // peek can say what there is to read
	request   *Trace // the current request, or nil
	used      bool   // a request has been answered on it
	ended     bool   // the end, or bytes of a response, have come while the connection was idle
	noWait    bool   // Read returns what has arrived and does not wait for more
	idleSince time.Time

	opening     time.Duration // how long it took to open the embedded Conn
	wrote       atomic.Int64  // bytes that the embedded Conn took, in total
	wroteBefore int64         // of them, those before the current request
	ending      ending        // if the current request got no byte of an answer

	// outOfOrder counts the segments that arrived out of order; ok is false once the connection
	// is closed. The last number is kept in reordered.
	outOfOrder func() (n int64, ok bool)
	reordered  atomic.Int64

	proxied bool        // requests are sent to a proxy that forwards them
	release func(*Conn) // takes back a connection that can be used again
	stray   func()      // called if an answer came that no request asked for
	closed  func()      // called once, when the connection is closed
	once    sync.Once
}

// newConn returns a connection over raw that has no stream yet.
// Opening raw took that long.
func newConn(raw net.Conn, opening time.Duration, closed func()) *Conn {
	c := &Conn{Conn: raw, kernel: newStampedReader(raw), opening: opening, closed: closed, stray: func() {}, visible: peek(raw) != peekUnknown}
	if c.kernel != nil {
		c.outOfOrder = c.kernel.outOfOrder
	}
	return c
}

// Read reads what has arrived, at most the bytes of one timestamp. A timestamp before an
// earlier one is dropped: segments were lost, and the segments behind the lost ones keep
// the timestamps of their own arrival.
func (c *Conn) Read(p []byte) (int, error) {
	if c.noWait && len(c.next) == 0 && peek(c.Conn) == peekNothing {
		return 0, os.ErrDeadlineExceeded
	}
	switch {
	case c.kernel == nil:
		return c.Conn.Read(p)
	case len(c.next) > 0:
		n := copy(p, c.next)
		c.next = c.next[n:]
		return n, nil
	case c.failed != nil:
		err := c.failed
		c.failed = nil
		return 0, err
	}
	got, err := c.kernel.read(p)
	c.took(got)
	return got.n, err
}

// await waits until there is something to read, or until the end of the connection, unless bytes
// that were read are still there. The next Read gets the result. A plain connection has no buffers
// while it waits; any other connection waits in Read.
func (c *Conn) await() {
	if !c.plain || c.holds() || c.failed != nil {
		return
	}
	c.letGo()
	b, got, err := c.kernel.borrow()
	if err != nil {
		b, c.failed = takeBuffers(), err
	} else {
		c.next = b.bytes[:got.n]
	}
	c.took(got)
	b.reader.Reset(c.in.limit)
	c.held, c.in.Reader = b, b.reader
}

// took notes what was read.
func (c *Conn) took(p piece) {
	if p.n > 0 {
		c.stamp = c.inOrder(p.stamp)
		c.batch.read(p)
	}
}

// letGo gives the buffers of c back, which must be empty.
func (c *Conn) letGo() {
	if c.held != nil {
		c.held.giveBack()
		c.held, c.in.Reader = nil, nil
	}
}

// holds reports whether c has read bytes that are not used.
func (c *Conn) holds() bool { return len(c.next) > 0 || c.in.holds() > 0 }

// inOrder returns stamp, or 0 if stamp is before the newest timestamp.
func (c *Conn) inOrder(stamp int64) int64 {
	if stamp < c.newest {
		return 0
	}
	c.newest = stamp
	return stamp
}

// reorderedSegments returns how many segments have arrived out of order. For a closed
// connection that is the number at the time of Close.
func (c *Conn) reorderedSegments() int64 {
	if c.outOfOrder != nil {
		if n, ok := c.outOfOrder(); ok {
			c.reordered.Store(n)
		}
	}
	return c.reordered.Load()
}

// lookBack returns what the kernel knows of c, or nil. It must be called before Close.
func (c *Conn) lookBack() *lookBack {
	if c.kernel == nil {
		return nil
	}
	return c.kernel.lookBack()
}

// Write writes p, and records when the current request's first byte is written.
func (c *Conn) Write(p []byte) (int, error) {
	t := c.request
	if t == nil || t.Begun {
		n, err := c.Conn.Write(p)
		c.wrote.Add(int64(n))
		return n, err
	}
	t.Begun, t.Sent = true, t.Clock.Now()
	n, err := c.Conn.Write(p)
	c.wrote.Add(int64(n))
	t.SentBy = c.sentBy(t)
	return n, err
}

// slowSend is how long the write of a request's first bytes takes at least so that the
// kernel is asked when it sent them.
const slowSend = time.Millisecond

// sentBy returns the latest instant at which the kernel can have sent the first bytes of
// the request that t traces, right after they were written. The process may have been
// stopped before the write, or after it.
func (c *Conn) sentBy(t *Trace) time.Duration {
	now := t.now()
	if now-t.Sent < slowSend || c.kernel == nil {
		return now
	}
	since := c.kernel.sinceSent()
	return max(t.Sent, min(now, t.now()-since))
}

// Close closes the connection and calls closed.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.reorderedSegments()
		c.closed()
	})
	return c.Conn.Close()
}

// setStream makes stream what requests are sent on.
func (c *Conn) setStream(stream net.Conn) {
	c.stream = stream
	if c.plain = stream == net.Conn(c) && c.kernel != nil; c.plain {
		c.in = newPlainResponse(stream)
	} else {
		c.in = newResponse(stream)
	}
}

const (
	// maxIdle is how long a connection without traffic is kept. maxIdleUnseen is
	// how long a connection that was opened ahead of its one request is kept if the
	// client cannot see whether the server has closed it: some servers close
	// connections after a few seconds.
	maxIdle       = 5 * time.Minute
	maxIdleUnseen = 2 * time.Second
)

// unusable reports whether an idle connection must not be used again: the server has
// closed it, or probably has, or has sent bytes without a request, which would be
// taken for the next response.
func (c *Conn) unusable() bool {
	idle := time.Since(c.idleSince)
	if c.ended {
		return true
	}
	switch peek(c.Conn) {
	case peekEnd:
		c.ended = true
		return true
	case peekBytes:
		// hasResponse and noteStray read what has come, so a later call would not see it.
		if c.ended = c.stream == c || c.hasResponse(); c.ended {
			c.noteStray()
		}
		return c.ended || idle > maxIdle
	case peekNothing:
		return idle > maxIdle
	}
	return idle > maxIdleUnseen
}

// noteStray calls stray if c, which is not used again, has the beginning of an answer that no request
// asked for. A response of status 408 is none: some servers send it before they close an idle
// connection (RFC 9110, 15.5.9).
func (c *Conn) noteStray() {
	const status = "HTTP/1.1 408"
	c.noWait = true
	defer func() { c.noWait = false }()
	c.await() // which does not wait, as there are bytes
	head, _ := c.in.Peek(len(status))
	if bytes.HasPrefix(head, []byte("HTTP/")) && !bytes.HasSuffix(head, []byte(" 408")) {
		c.stray()
		c.stray = func() {} // a connection counts once
	}
}

// hasResponse reports whether TLS has brought the end of the connection or a part of
// a response. It reads TLS's own messages, which servers also send between responses.
func (c *Conn) hasResponse() bool {
	c.noWait = true
	defer func() { c.noWait = false }()
	_, err := c.in.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// unused reports whether no request has been answered on c.
func (c *Conn) unused() bool { return !c.used }

// A pender is a connection that is no socket and knows what there is to read.
type pender interface {
	// Pending reports whether bytes wait to be read. It returns an error if the peer
	// has closed the connection.
	Pending() (waiting bool, err error)
}

// peek returns what there is to read from c, without reading it. Nobody else may read
// from c meanwhile.
func peek(c net.Conn) peekResult {
	p, ok := c.(pender)
	if !ok {
		return peekSocket(c)
	}
	switch waiting, err := p.Pending(); {
	case err != nil:
		return peekEnd
	case waiting:
		return peekBytes
	}
	return peekNothing
}

// A peekResult is what there is to read from a connection.
type peekResult int

const (
	peekUnknown peekResult = iota // nobody can say
	peekNothing
	peekBytes
	peekEnd // the end of the connection, or an error
)
