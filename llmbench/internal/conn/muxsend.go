package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// exchange sends req on a stream of its own, and returns when the head of its response has come. The mux must have a
// reserved place, which is given back. If the context of req ends before the body is closed, the stream ends.
func (m *mux) exchange(req *http.Request, t *Trace) (*http.Response, error) {
	ctx := req.Context()
	s := newStream(m)
	b := &muxBody{stream: s, unwatch: context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })}
	var err error
	Apart(func() { b.whole, err = m.writeRequest(ctx, s, req, t) })
	var h *head
	if err == nil {
		h, err = s.waitHead()
	}
	if err != nil {
		b.Close()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the server closed the connection before it answered: %w", err)
		}
		return nil, err
	}
	t.FirstByte = Arrival{t.now(), h.at.stamp}
	b.at = h.at
	return &http.Response{
		Status: strconv.Itoa(h.status) + " " + http.StatusText(h.status), StatusCode: h.status, Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: h.header, Body: b, ContentLength: h.length, Request: req,
	}, nil
}

// writeRequest writes req, and reports whether it was written completely. It is not if the server answers or ends the
// stream before.
func (m *mux) writeRequest(ctx context.Context, s *stream, req *http.Request, t *Trace) (whole bool, err error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	fields, err := fieldsOf(req)
	if err != nil {
		return false, err
	}
	left := max(0, req.ContentLength)
	for first := true; first || left > 0; first = false {
		if err := m.lock(ctx); err != nil {
			if first {
				err = notProcessed{err, false}
			}
			return false, err
		}
		left, err = m.writePart(s, req, fields, left, t)
		m.unlock()
		if err != nil {
			return false, err
		}
		if left > 0 && !m.awaitWindow(s) {
			return false, s.failure()
		}
	}
	t.Written = t.now()
	return true, nil
}

// writePart writes the head of req, unless the stream has begun, and as much of the remaining body as fits into a write and
// into the windows. It returns how many bytes of the body remain. The caller must hold writing.
func (m *mux) writePart(s *stream, req *http.Request, fields []hpack.HeaderField, left int64, t *Trace) (int64, error) {
	frame, begins := 0, s.id == 0
	if begins {
		var err error
		if frame, err = m.begin(s); err != nil {
			return left, err
		}
		t.share(m.conn)
		m.writeHead(s.id, fields, frame, left == 0)
	}
	for left > 0 && m.out.Len() < writeSize {
		n := m.spend(s, left)
		if n == 0 {
			break
		}
		chunk := m.chunk[:n]
		if _, err := io.ReadFull(req.Body, chunk); err != nil {
			m.out.Reset()
			m.fail(fmt.Errorf("the body of a request: %w", err))
			return left, err
		}
		left -= int64(n)
		m.write.WriteData(s.id, left == 0, chunk)
	}
	if m.out.Len() == 0 {
		return left, nil
	}
	before, again := m.conn.wrote.Load(), t.Begun
	if !again {
		t.Begun, t.Sent = true, t.Clock.Now()
	}
	err := m.flush()
	if !again {
		t.SentBy = m.conn.sentBy(t)
	}
	if err == nil {
		return left, nil
	}
	m.fail(err)
	if begins && m.conn.wrote.Load() == before {
		return left, notProcessed{err, false}
	}
	return left, err
}

// begin gives s its ID, and returns the maximum size of a frame's payload.
func (m *mux) begin(s *stream) (frame int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err != nil:
		return 0, notProcessed{m.err, false}
	case m.away != nil:
		return 0, notProcessed{fmt.Errorf("not sent: %v", m.away), false}
	case m.next >= maxStreamID-2:
		return 0, notProcessed{fmt.Errorf("not sent: no further stream on the connection"), false}
	}
	if len(m.streams) == 0 {
		m.conn.newest.Store(0)
	}
	s.id, s.window = m.next, m.initial
	m.next += 2
	m.used = true
	m.streams[s.id] = s
	return m.frame, nil
}

// spend returns how many bytes of a body of s may be sent now, at most left and at most a frame, and takes them from the
// windows.
func (m *mux) spend(s *stream, left int64) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := max(0, min(left, int64(m.frame), int64(len(m.chunk)), m.window, s.window))
	m.window -= n
	s.window -= n
	return int(n)
}

// awaitWindow waits until the windows of the server let s send more, and returns false if the server does not want more.
func (m *mux) awaitWindow(s *stream) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s.wantsRequest() {
		if m.window > 0 && s.window > 0 {
			return true
		}
		m.moved.Wait()
	}
	return false
}

// writeHead adds the head of a request to m.out.
func (m *mux) writeHead(id uint32, fields []hpack.HeaderField, frame int, end bool) {
	m.fields.Reset()
	for _, f := range fields {
		m.encoder.WriteField(f)
	}
	block := m.fields.Bytes()
	part := block[:min(len(block), frame)]
	block = block[len(part):]
	m.write.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: part, EndStream: end, EndHeaders: len(block) == 0})
	for len(block) > 0 {
		part = block[:min(len(block), frame)]
		block = block[len(part):]
		m.write.WriteContinuation(id, len(block) == 0, part)
	}
}

// fieldsOf returns the fields of the head of req (RFC 9113, 8.3.1).
func fieldsOf(req *http.Request) ([]hpack.HeaderField, error) {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	host, err := httpguts.PunycodeHostPort(host)
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", req.Host, err)
	}
	fields := []hpack.HeaderField{
		{Name: ":method", Value: req.Method}, {Name: ":scheme", Value: req.URL.Scheme},
		{Name: ":authority", Value: host}, {Name: ":path", Value: req.URL.RequestURI()},
	}
	add := func(name, value string) { fields = append(fields, hpack.HeaderField{Name: name, Value: value}) }
	if _, set := req.Header["User-Agent"]; !set {
		add("user-agent", "Go-http-client/2.0")
	}
	if req.Body != nil {
		add("content-length", strconv.FormatInt(max(0, req.ContentLength), 10))
	}
	for name, values := range req.Header {
		switch lower := strings.ToLower(name); lower {
		case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "te", "host", "content-length": // RFC 9113, 8.2.2
		default:
			for _, v := range values {
				if !httpguts.ValidHeaderFieldValue(v) {
					return nil, fmt.Errorf("the value of the header %s holds a control character", name)
				}
				add(lower, v)
			}
		}
	}
	return fields, nil
}
