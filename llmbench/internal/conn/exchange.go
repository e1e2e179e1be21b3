package conn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"
)

// exchange sends req and reads the head of its response. If the context of req ends
// before the body is closed, exchange closes the connection.
func (c *Conn) exchange(req *http.Request, t *Trace) (*http.Response, error) {
	t.attach(c)
	unwatch := context.AfterFunc(req.Context(), func() { c.Close() })
	resp, stopWriting, err := c.roundTrip(req, t)
	if err != nil {
		unwatch()
		return nil, err
	}
	keep := !resp.Close && !req.Close && !httpguts.HeaderValuesContainsToken(req.Header["Connection"], "close")
	_, awaits := resp.Body.(awaited)
	resp.Body = &body{Reader: resp.Body, conn: c, stopWriting: stopWriting, keep: keep, awaits: awaits, unwatch: unwatch}
	return resp, nil
}

// roundTrip writes req and reads the head of its response. If the request is still being written then, the
// function stopWriting stops this. stopWriting returns an error if the request was not written completely.
func (c *Conn) roundTrip(req *http.Request, t *Trace) (resp *http.Response, stopWriting func() error, err error) {
	// A server may answer before it has read the whole request, and then stop reading. So the client must
	// read while it writes, unless the request fits into one write.
	if req.ContentLength > writeSize {
		stopWriting = c.writeBeside(req, t)
	} else {
		var writeErr error
		Apart(func() { writeErr = c.write(req, t) })
		stopWriting = func() error { return writeErr }
	}
	c.await()
	if _, err = c.in.Peek(1); err == nil {
		t.FirstByte = Arrival{t.now(), c.stamp}
		Apart(func() { resp, err = c.in.head(req) })
	} else if err == io.EOF {
		err = fmt.Errorf("the server closed the connection before it answered: %w", err)
	}
	if err != nil {
		noticed, k := t.now(), c.lookBack()
		c.Close() // this also ends the writing
		writeErr := stopWriting()
		c.ending = c.endingOf(err, writeErr, t, noticed, k)
		if writeErr != nil && t.FirstByte.User == 0 && !errors.Is(writeErr, net.ErrClosed) {
			err = writeErr
		}
		return nil, nil, err
	}
	if resp.StatusCode >= 300 { // the server does not want the rest of the request
		stopWriting()
	}
	return resp, stopWriting, nil
}

// endingOf returns how c ended. It receives the error readErr with which reading the answer ended, and the
// error writeErr with which writing the request ended. The instant noticed is when readErr was returned; if
// the client had too little CPU time, it is later than the end itself. The argument k is the kernel's
// information about the connection, or nil.
func (c *Conn) endingOf(readErr, writeErr error, t *Trace, noticed time.Duration, k *lookBack) ending {
	fin := errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) // io.ErrUnexpectedEOF comes from TLS
	// The kernel reports a reset only once. If the writer gets it, the reader gets io.EOF.
	fin = fin && !errors.Is(writeErr, syscall.ECONNRESET)
	e := ending{
		took:        c.wrote.Load() - c.wroteBefore,
		whole:       t.Written != 0,
		reset:       !fin,
		acked:       -1,
		after:       noticed - t.Written,
		afterAnswer: t.Clock.Start().Add(noticed).Sub(c.idleSince),
		rtt:         c.opening,
	}
	if k == nil {
		return e
	}
	e.acked, e.rtt = k.acked-c.wroteBefore, 2*k.minRTT
	if late := e.after - k.fin; late > 0 && !e.reset {
		e.after -= late
		e.afterAnswer -= late
	}
	return e
}

// writeBeside writes req in a separate goroutine, and returns the function stopWriting of roundTrip.
func (c *Conn) writeBeside(req *http.Request, t *Trace) (stopWriting func() error) {
	written := make(chan error, 1)
	go func() { written <- c.write(req, t) }()
	return sync.OnceValue(func() error {
		select {
		case err := <-written:
			return err
		default:
			c.stream.SetWriteDeadline(time.Unix(1, 0))
			defer c.stream.SetWriteDeadline(time.Time{})
			return <-written
		}
	})
}

// writers holds buffers for requests that are being written.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// write writes req. If the request itself is invalid, write closes the connection, so that no goroutine
// waits for an answer.
func (c *Conn) write(req *http.Request, t *Trace) error {
	out := writers.Get().(*bufio.Writer)
	out.Reset(c.stream)
	write := req.Write
	if c.proxied {
		write = req.WriteProxy
	}
	err := write(out)
	flushErr := out.Flush()
	out.Reset(nil)
	writers.Put(out)
	switch {
	case flushErr != nil:
		return flushErr
	case err != nil:
		c.Close()
		return err
	}
	t.Written = t.now()
	return nil
}

// A body is the body of a response. The connection can be used again only if the body is read to its end.
type body struct {
	io.Reader
	conn        *Conn
	stopWriting func() error
	keep        bool // neither side asked to close the connection
	ended       bool
	awaits      bool        // see awaited
	unwatch     func() bool // stops watching the request's context
}

// await waits until there is something to read, if the body will read more of its connection.
func (b *body) await() {
	if b.awaits && !b.ended {
		b.conn.await()
	}
}

func (b *body) canAwait() bool { return b.awaits && b.conn.plain }

// Read reads from the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.ended = true
	}
	return n, err
}

// Close returns the connection to the pool, or closes it. It closes the connection if the client cannot see
// whether there is something to read from it: otherwise a late or second response to this request could be
// taken for the response to the next request.
func (b *body) Close() error {
	c := b.conn
	writeErr := b.stopWriting()
	c.request = nil
	if b.ended && c.holds() {
		c.noteStray()
	}
	if !b.unwatch() || writeErr != nil || !b.keep || !b.ended || c.holds() || !c.visible {
		return c.Close()
	}
	c.letGo()
	c.used = true
	c.release(c)
	return nil
}
