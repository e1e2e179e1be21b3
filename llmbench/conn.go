package llmbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

// A conn is a connection of a pool. It keeps the kernel's stamp of what was read
// last, and tells the request it carries when its first byte is written.
//
// It is of one goroutine at a time, but for Close.
type conn struct {
	net.Conn
	top       net.Conn       // itself, or TLS on top of it
	in        limited        // what is read of top
	kernel    *stampedReader // of Conn, or nil: the kernel stamps nothing here
	stamp     int64          // of the last Read, on the wall clock; 0: it has none
	newest    int64          // of the stamps since the request that is under way has it
	rider     *instants
	used      bool // by a request
	looking   bool // what there is, and not to wait for more
	idleSince time.Time

	strays func() (n int64, ok bool)
	stray  atomic.Int64 // what that last said
	pool   *pool
	once   sync.Once
}

// Read reads what has come. One Read has one stamp, that of the last segment it
// took: what several segments brought is attributed to the last of them. One that
// is before a stamp that was read earlier is of no use: segments were lost, and
// those behind them keep the stamps of when they came.
func (c *conn) Read(p []byte) (int, error) {
	if c.looking && peek(c.Conn) == peekNothing {
		return 0, os.ErrDeadlineExceeded
	}
	if c.kernel == nil {
		return c.Conn.Read(p)
	}
	n, stamp, err := c.kernel.read(p)
	if n > 0 {
		c.stamp = c.inOrder(stamp)
	}
	return n, err
}

// inOrder returns a stamp, or 0 if it is before the newest.
func (c *conn) inOrder(stamp int64) int64 {
	if stamp < c.newest {
		return 0
	}
	c.newest = stamp
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

// Write writes p, and tells the request that is under way when it began to.
func (c *conn) Write(p []byte) (int, error) {
	if i := c.rider; i != nil && !i.begun {
		i.begun, i.sent = true, i.clock.now()
	}
	return c.Conn.Write(p)
}

// Close closes the connection, and tells the pool.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.countStrays()
		c.pool.mu.Lock()
		c.pool.conns--
		c.pool.mu.Unlock()
	})
	return c.Conn.Close()
}

// carry readies the connection for requests on top.
func (c *conn) carry(top net.Conn) {
	c.top, c.in = top, newLimited(top)
}

// gone tells that an idle connection is of no use: the server has closed it, or must
// be thought to have, or has sent something that nobody asked for and that would seem
// to be the next answer.
func (c *conn) gone() bool {
	idle := time.Since(c.idleSince)
	switch peek(c.Conn) {
	case peekEnd:
		return true
	case peekBytes:
		return c.top == c || c.told() || idle > keepIdle
	case peekNothing:
		return idle > keepIdle
	}
	return idle > keepUnseen
}

// told tells that TLS has brought an end or a part of an answer: it has things to say
// between answers, which are read here.
func (c *conn) told() bool {
	c.looking = true
	defer func() { c.looking = false }()
	_, err := c.in.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// peeked is what there is to read of a connection.
type peeked int

const (
	peekUnknown peeked = iota // it cannot be seen
	peekNothing
	peekBytes
	peekEnd // the end, or an error
)

// exchange sends req and reads the head of its response. If its context ends before
// the body is closed, so does the connection.
func (c *conn) exchange(req *http.Request, seen *instants) (*http.Response, error) {
	seen.on(c)
	unwatch := context.AfterFunc(req.Context(), func() { c.Close() })
	resp, sent, err := c.ask(req, seen)
	if err != nil {
		unwatch()
		return nil, err
	}
	keep := !resp.Close && !req.Close && !httpguts.HeaderValuesContainsToken(req.Header["Connection"], "close")
	resp.Body = &body{Reader: resp.Body, conn: c, sent: sent, keep: keep, unwatch: unwatch}
	return resp, nil
}

// ask is exchange without what comes after. Sent stops the request's writing, if it goes
// on beside the answer, and returns why the request is not whole, or nil.
func (c *conn) ask(req *http.Request, seen *instants) (resp *http.Response, sent func() error, err error) {
	// A server may answer before it has read all, and then read no more. A request
	// that fits into one write needs nobody who waits for that meanwhile.
	if req.ContentLength > writeSize {
		wrote := make(chan error, 1)
		go func() { wrote <- c.write(req, seen) }()
		sent = sync.OnceValue(func() error {
			select {
			case err := <-wrote:
				return err
			default:
				c.top.SetWriteDeadline(time.Unix(1, 0))
				defer c.top.SetWriteDeadline(time.Time{})
				return <-wrote
			}
		})
	} else {
		unsent := c.write(req, seen)
		sent = func() error { return unsent }
	}
	if _, err = c.in.Peek(1); err == nil {
		seen.firstByte, seen.firstStamp = seen.stamp(), c.stamp
		resp, err = c.in.head(req)
	} else if err == io.EOF {
		err = fmt.Errorf("the server closed the connection before it answered: %w", err)
	}
	if err != nil {
		c.Close() // which ends the writing, too
		if unsent := sent(); unsent != nil && seen.firstByte == 0 && !errors.Is(unsent, net.ErrClosed) {
			err = unsent
		}
		return nil, nil, err
	}
	if resp.StatusCode >= 300 { // what it wants no more of
		sent()
	}
	return resp, sent, nil
}

// writeSize is what is written at once of a request, in bytes.
const writeSize = 32 << 10

// writers hold the buffers of requests that are being written.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// write writes req. If it cannot be written, whatever the connection, that is closed:
// no answer is to be waited for.
func (c *conn) write(req *http.Request, seen *instants) error {
	out := writers.Get().(*bufio.Writer)
	out.Reset(c.top)
	write := req.Write
	if c.pool.plainProxy() {
		write = req.WriteProxy
	}
	err := write(out)
	broken := out.Flush()
	out.Reset(nil)
	writers.Put(out)
	switch {
	case broken != nil:
		return broken
	case err != nil:
		c.Close()
		return err
	}
	seen.written = seen.stamp()
	return nil
}

// A body is what remains of a response. It is read to its end, or the connection
// cannot be used again.
type body struct {
	io.Reader
	conn    *conn
	sent    func() error // stops the request's writing
	keep    bool         // the connection can be used again
	ended   bool
	unwatch func() bool
}

// Read reads of the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.ended = true
	}
	return n, err
}

// Close gives the connection back, or closes it.
func (b *body) Close() error {
	c := b.conn
	unsent := b.sent()
	c.rider = nil
	if !b.unwatch() || unsent != nil || !b.keep || !b.ended || c.in.Buffered() > 0 {
		return c.Close()
	}
	c.used = true
	c.pool.put(c)
	return nil
}

// limited is what is read of a connection, with a limit for heads. Its buffer, which
// a stream that waits holds, also bounds a trailer and a chunk's extensions.
type limited struct {
	*bufio.Reader
	limit *io.LimitedReader
}

// maxHead bounds a response's head, in bytes.
const maxHead = 1 << 20

func newLimited(r io.Reader) limited {
	l := &io.LimitedReader{R: r, N: math.MaxInt64}
	return limited{bufio.NewReaderSize(l, 1<<10), l}
}

// head reads the head of the response to req, and drops those of 1xx that come
// before (RFC 9110, 15.2).
func (l limited) head(req *http.Request) (*http.Response, error) {
	l.limit.N = maxHead
	defer func() { l.limit.N = math.MaxInt64 }()
	for {
		resp, err := http.ReadResponse(l.Reader, req)
		switch {
		case err != nil && l.limit.N <= 0:
			return nil, fmt.Errorf("a response's head of more than %d bytes", maxHead)
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			resp.Close = true
			return resp, nil
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			return resp, nil
		}
	}
}
