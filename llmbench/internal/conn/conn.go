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

// A Conn is one connection of a [Pool]. It keeps the kernel's timestamp of the last read, and records in
// the current request's [Trace] when the first byte is written. Only one goroutine may use a Conn at a
// time, except for Close and release.
type Conn struct {
	net.Conn
	stream net.Conn       // the Conn itself, or TLS on top of it
	in     *response      // reads from stream
	kernel *stampedReader // reads from the embedded Conn; nil without kernel timestamps
	plain  bool           // stream is the Conn itself, and there are kernel timestamps
	held   *buffers       // the buffers from which in reads; nil while there is nothing to read, or if the Conn is not plain
	next   []byte         // bytes that await has read into held, and that Read has not returned yet
	failed error          // error of await, which the next Read returns
	stamp  int64          // kernel timestamp of the last Read, in ns since 1970; 0 means none
	newest atomic.Int64   // newest timestamp of the current request, or of the streams that share the connection
	batch  batch          // the bytes that were read last

	visible   bool   // peek can tell whether there are bytes to read
	request   *Trace // the current request, or nil
	used      bool   // the connection has answered a request
	ended     bool   // while the connection was idle, it was closed, or bytes of a response came
	noWait    bool   // Read returns what has arrived, and does not wait for more
	idleSince time.Time

	opening     time.Duration // how long it took to open the embedded Conn
	wrote       atomic.Int64  // bytes written to the embedded Conn, in total
	wroteBefore int64         // bytes written before the current request
	ending      ending        // how the connection ended, if the current request got no byte of an answer

	// outOfOrder returns the number of segments that arrived out of order; ok is false once the connection
	// is closed. The last number is kept in reordered.
	outOfOrder func() (n int64, ok bool)
	reordered  atomic.Int64

	records []*records  // below the TLS connections of a mux, from the outermost on
	proxied bool        // requests are sent to a proxy that forwards them
	release func(*Conn) // returns the connection to the pool
	stray   func()      // called if an answer came without a request
	closed  func()      // called once, when the connection is closed
	once    sync.Once
}

// newConn returns a connection over raw that has no stream yet. Opening raw took the time opening.
func newConn(raw net.Conn, opening time.Duration, closed func()) *Conn {
	c := &Conn{Conn: raw, kernel: newStampedReader(raw), opening: opening, closed: closed, stray: func() {}, visible: peek(raw) != peekUnknown}
	if c.kernel != nil {
		c.outOfOrder = c.kernel.outOfOrder
	}
	return c
}

// Read reads what has arrived, but at most the bytes of one timestamp. It drops a timestamp that is before
// an earlier one. Such timestamps occur if segments were lost: the segments after the lost ones keep the
// timestamps of their own arrival.
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

// await waits until there is something to read, or until the connection ends. It returns at once if there
// are unused bytes from an earlier read. The next Read returns what has come. A plain connection has no
// buffers while it waits; any other connection does not wait here, but in Read.
//
// A waiting stream has the frames of await and of its callers in its stack; see the method send of
// [github.com/seed-2b9cec6d/llmbench/llmbench/internal/send.Worker]. So letGo and hold are not inlined.
func (c *Conn) await() {
	if !c.plain || c.holds() || c.failed != nil {
		return
	}
	c.letGo()
	c.hold(c.kernel.borrow())
}

// hold keeps the result of a read of await for the next Read.
//
//go:noinline
func (c *Conn) hold(b *buffers, got piece, err error) {
	if err != nil {
		b, c.failed = takeBuffers(), err
	} else {
		c.next = b.bytes[:got.n]
	}
	c.took(got)
	b.reader.Reset(c.in.limit)
	c.held, c.in.Reader = b, b.reader
}

// took records the result of a read.
func (c *Conn) took(p piece) {
	if p.n > 0 {
		c.stamp = c.inOrder(p.stamp)
		c.batch.read(p)
	}
}

// letGo returns the buffers of c, which must be empty, to the pool of buffers.
//
//go:noinline
func (c *Conn) letGo() {
	if c.held != nil {
		c.held.giveBack()
		c.held, c.in.Reader = nil, nil
	}
}

// holds reports whether c has bytes that were read but not used.
func (c *Conn) holds() bool { return len(c.next) > 0 || c.in.holds() > 0 }

// inOrder returns stamp, or 0 if stamp is before the newest timestamp.
func (c *Conn) inOrder(stamp int64) int64 {
	if stamp < c.newest.Load() {
		return 0
	}
	c.newest.Store(stamp)
	return stamp
}

// reorderedSegments returns how many segments have arrived out of order. For a closed connection, it
// returns the number at the time of Close.
func (c *Conn) reorderedSegments() int64 {
	if c.outOfOrder != nil {
		if n, ok := c.outOfOrder(); ok {
			c.reordered.Store(n)
		}
	}
	return c.reordered.Load()
}

// lookBack returns the kernel's information about the end of c, or nil if there is none. It must be called
// before Close.
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

// slowWrite is a minimum duration for the write of a request's first bytes. If the write took at least this
// long, sentBy asks the kernel when it sent the bytes.
const slowWrite = time.Millisecond

// sentBy returns the latest instant at which the kernel can have sent the first bytes of the request that t
// traces. It must be called right after they were written. This instant matters because the process may
// have been stopped just before or just after the write.
func (c *Conn) sentBy(t *Trace) time.Duration {
	now := t.now()
	if now-t.Sent < slowWrite || c.kernel == nil {
		return now
	}
	since := c.kernel.sinceSent()
	return max(t.Sent, min(now, t.now()-since))
}

// Close closes the connection, and calls closed the first time.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.reorderedSegments()
		c.closed()
	})
	return c.Conn.Close()
}

// setStream sets the stream over which requests are sent.
func (c *Conn) setStream(stream net.Conn) {
	c.stream = stream
	if c.plain = stream == net.Conn(c) && c.kernel != nil; c.plain {
		c.in = newPlainResponse(stream)
	} else {
		c.in = newResponse(stream)
	}
}

const (
	// maxIdle is how long an idle connection is kept. If the client cannot see whether the server has
	// closed a connection, the limit is maxIdleUnseen, because some servers close connections after a few
	// seconds. Such a connection is used for one request only, so it is idle only if it was opened before
	// that request.
	maxIdle       = 5 * time.Minute
	maxIdleUnseen = 2 * time.Second
)

// unusable reports whether an idle connection must not be used again. There are two reasons: the server
// has, or probably has, closed the connection; or the server has sent bytes without a request, which would
// be taken for the next response.
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

// noteStray calls stray if c has the beginning of an answer that no request asked for. The connection c
// must not be used again. A response with status 408 does not count: some servers send it before they close
// an idle connection (RFC 9110, 15.5.9).
func (c *Conn) noteStray() {
	const status = "HTTP/1.1 408"
	c.noWait = true
	defer func() { c.noWait = false }()
	c.await() // this does not wait, because there are bytes
	head, _ := c.in.Peek(len(status))
	if bytes.HasPrefix(head, []byte("HTTP/")) && !bytes.HasSuffix(head, []byte(" 408")) {
		c.stray()
		c.stray = func() {} // a connection counts once
	}
}

// hasResponse reports whether a TLS connection has ended or has a part of a response. It reads TLS's own
// messages, which servers may also send between responses.
func (c *Conn) hasResponse() bool {
	c.noWait = true
	defer func() { c.noWait = false }()
	_, err := c.in.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// A pender is a connection that is not a socket, but can tell whether there are bytes to read.
type pender interface {
	// Pending reports whether bytes wait to be read. It returns an error if the peer
	// has closed the connection.
	Pending() (waiting bool, err error)
}

// peek returns what there is to read from c, without reading it. No other goroutine may read from c at the
// same time.
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

// A peekResult says what there is to read from a connection.
type peekResult int

const (
	peekUnknown peekResult = iota // the connection cannot tell
	peekNothing
	peekBytes
	peekEnd // the connection has ended, or there is an error
)
