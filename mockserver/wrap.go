package mockserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
)

// headerByte is the time between two bytes of a slow header.
const headerByte = 2 * time.Millisecond

// wrap replaces x.w by a ResponseWriter that compresses the body or sends the header
// slowly, if the fault asks for that. The caller must call end when the answer has been
// sent.
func (x *exchange) wrap() (end func()) {
	end = func() {}
	switch x.fault.Kind {
	case fault.Gzip:
		x.w.Header().Set("Content-Encoding", "gzip")
		x.w = &gzipWriter{x.w, gzip.NewWriter(x.w)}
		x.tap = nil // it would count uncompressed bytes
	case fault.SlowHeader:
		conn, _, err := http.NewResponseController(x.w).Hijack()
		if err != nil {
			break // w has no connection, as in a test, or a stream of HTTP/2
		}
		end = x.takeOver(conn)
	}
	x.rc = http.NewResponseController(x.w)
	return end
}

// takeOver makes the exchange answer on conn, which net/http no longer controls. The
// returned function closes conn.
func (x *exchange) takeOver(conn net.Conn) (end func()) {
	ctx, cancel := context.WithCancel(x.ctx)
	gone := make(chan struct{})
	go func() { // cancels the context when the client hangs up, as net/http does
		defer close(gone)
		for b := make([]byte, 64); ; {
			if _, err := conn.Read(b); err != nil {
				cancel()
				return
			}
		}
	}()
	x.ctx = ctx
	x.conn = nil // else the write of a header byte would be logged as a write of tokens
	x.w = &slowHeaderWriter{ctx: ctx, alarm: &x.alarm, begin: x.rec.Admitted, conn: conn, header: x.w.Header()}
	return func() {
		cancel()
		conn.Close()
		<-gone
	}
}

// A gzipWriter compresses the body.
type gzipWriter struct {
	http.ResponseWriter
	zip *gzip.Writer
}

func (g *gzipWriter) Write(b []byte) (int, error) { return g.zip.Write(b) }
func (g *gzipWriter) closeBody() error            { return g.zip.Close() }

func (g *gzipWriter) FlushError() error {
	if err := g.zip.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(g.ResponseWriter).Flush()
}

// A slowHeaderWriter is a ResponseWriter on a connection that net/http does not control. It
// sends the header byte by byte: byte i is due i times headerByte after begin.
type slowHeaderWriter struct {
	ctx     context.Context
	alarm   *pace.Alarm
	begin   time.Duration
	conn    net.Conn
	header  http.Header
	status  int
	chunked bool
}

func (s *slowHeaderWriter) Header() http.Header { return s.header }
func (s *slowHeaderWriter) FlushError() error   { return nil } // nothing is buffered

// WriteHeader sends the header. If the client hangs up meanwhile, the next Write returns an
// error.
func (s *slowHeaderWriter) WriteHeader(status int) {
	s.status = status
	s.header.Set("Connection", "close")
	if s.chunked = s.header.Get("Content-Length") == ""; s.chunked {
		s.header.Set("Transfer-Encoding", "chunked")
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	s.header.Write(&head)
	head.WriteString("\r\n")
	for i := range head.Len() {
		if s.alarm.Wait(s.ctx, s.begin+time.Duration(i)*headerByte) != nil {
			return
		}
		if _, err := s.conn.Write(head.Bytes()[i : i+1]); err != nil {
			return
		}
	}
}

func (s *slowHeaderWriter) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.WriteHeader(http.StatusOK)
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil
	}
	if !s.chunked {
		return s.conn.Write(b)
	}
	if _, err := s.conn.Write(fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *slowHeaderWriter) closeBody() error {
	if !s.chunked {
		return nil
	}
	_, err := s.conn.Write([]byte("0\r\n\r\n"))
	return err
}
