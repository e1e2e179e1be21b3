package mockserver

import (
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// dribble is the time from one byte of a slow header to the next.
const dribble = 2 * time.Millisecond

// A bodyCloser is a ResponseWriter that has to be told where the body ends.
type bodyCloser interface{ closeBody() error }

// wrap puts what the fault wants between the exchange and its connection, and
// returns what undoes that.
func (x *exchange) wrap() (undo func()) {
	switch x.fault.Kind {
	case fault.Gzip:
		x.w.Header().Set("Content-Encoding", "gzip")
		x.w = &gzipped{x.w, gzip.NewWriter(x.w)}
	case fault.SlowHeader:
		conn, _, err := http.NewResponseController(x.w).Hijack()
		if err != nil {
			return func() {} // not on a connection: nothing to be slow on
		}
		ctx, cancel := context.WithCancel(x.ctx)
		gone := make(chan struct{})
		go func() { // net/http no longer watches the client
			defer close(gone)
			for b := make([]byte, 64); ; {
				if _, err := conn.Read(b); err != nil {
					cancel()
					return
				}
			}
		}()
		x.ctx = ctx
		x.wire = nil // the header would be what it tells of
		x.w = &dribbler{x: x, conn: conn, header: x.w.Header()}
		x.rc = http.NewResponseController(x.w)
		return func() {
			cancel()
			conn.Close()
			<-gone
		}
	}
	x.rc = http.NewResponseController(x.w)
	return func() {}
}

// A gzipped ResponseWriter compresses the body.
type gzipped struct {
	http.ResponseWriter
	zip *gzip.Writer
}

func (g *gzipped) Write(b []byte) (int, error) { return g.zip.Write(b) }
func (g *gzipped) closeBody() error            { return g.zip.Close() }

func (g *gzipped) FlushError() error {
	if err := g.zip.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(g.ResponseWriter).Flush()
}

// A dribbler is a ResponseWriter on a connection of its own that takes its time
// with the header.
type dribbler struct {
	x       *exchange
	conn    net.Conn
	header  http.Header
	status  int
	chunked bool
}

func (d *dribbler) Header() http.Header { return d.header }
func (d *dribbler) FlushError() error   { return nil } // nothing is buffered

// WriteHeader sends the header, from admission on: byte i is due i times dribble
// after that.
func (d *dribbler) WriteHeader(status int) {
	d.status = status
	d.header.Set("Connection", "close")
	if d.chunked = d.header.Get("Content-Length") == ""; d.chunked {
		d.header.Set("Transfer-Encoding", "chunked")
	}
	head := headText(status, d.header)
	for i := range head {
		if d.x.alarm.wait(d.x.ctx, d.x.rec.Admitted+time.Duration(i)*dribble) != nil {
			return // the next write tells
		}
		if _, err := d.conn.Write(head[i : i+1]); err != nil {
			return
		}
	}
}

func (d *dribbler) Write(b []byte) (int, error) {
	if d.status == 0 {
		d.WriteHeader(http.StatusOK)
	}
	if err := d.x.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil
	}
	if !d.chunked {
		return d.conn.Write(b)
	}
	if _, err := d.conn.Write(fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (d *dribbler) closeBody() error {
	if !d.chunked {
		return nil
	}
	_, err := d.conn.Write([]byte("0\r\n\r\n"))
	return err
}

// headText is the first part of a response as it goes on the wire.
func headText(status int, h http.Header) []byte {
	var b headBuffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	h.Write(&b)
	return append(b, "\r\n"...)
}

type headBuffer []byte

func (b *headBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
