package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
)

// readFrames reads frames until there is an error.
func (m *mux) readFrames() error {
	if err := m.readPreface(); err != nil {
		return err
	}
	for {
		h, err := m.read.ReadFrameHeader()
		switch {
		case errors.Is(err, http2.ErrFrameTooLarge):
			return fmt.Errorf("a frame of %d bytes: want at most %d", h.Length, maxFrame)
		case err != nil:
			return err
		}
		if h.Type == http2.FrameData {
			err = m.readData(h)
		} else {
			err = m.readFrame(h)
		}
		if s, ok := errors.AsType[http2.StreamError](err); ok {
			m.breaks(s.StreamID, s.Code, s.Cause)
		} else if err != nil {
			return err
		}
	}
}

// readPreface checks that the first frame of the server is SETTINGS (RFC 9113, 3.4).
func (m *mux) readPreface() error {
	first, err := m.in.Peek(frameHead)
	switch {
	case bytes.HasPrefix(first, []byte("HTTP/")):
		return errNoHTTP2
	case len(first) > 0 && (first[0] == 21 || first[0] == 22): // as in otherProtocol
		return errAnswersTLS
	case err != nil && len(first) == 0:
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("the server closed the connection before it sent a frame of HTTP/2: %w (does it want TLS, or HTTP/1.1? LLMBENCH_HTTP=1.1)", err)
	case err != nil:
		return err
	case http2.FrameType(first[3]) != http2.FrameSettings:
		return fmt.Errorf("the server's first bytes are %q: want a frame SETTINGS of HTTP/2", first)
	}
	return nil
}

// frameHead is the size of a frame's head (RFC 9113, 4.1), in bytes.
const frameHead = 9

// errNoHTTP2 is the error of a connection to a server that does not speak HTTP/2.
var errNoHTTP2 = errors.New("the server speaks HTTP/1.1 here, and not HTTP/2, which LLMBENCH_HTTP=2 (Target.HTTP) asks for: want LLMBENCH_HTTP=1.1, or a port that speaks HTTP/2")

// breaks ends a stream on which the server has broken RFC 9113.
func (m *mux) breaks(id uint32, code http2.ErrCode, cause error) {
	err := fmt.Errorf("a frame that breaks RFC 9113: %v", code)
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	if s, _ := m.stream(id); s != nil {
		s.fail(err, true)
	}
	m.answer(func(f *http2.Framer) { f.WriteRSTStream(id, code) })
}

// stream returns the stream with the given ID, or nil if it has ended. The error says that there never was one.
func (m *mux) stream(id uint32) (*stream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id%2 == 0 || id >= m.next {
		return nil, fmt.Errorf("a frame of stream %d, which no request has", id)
	}
	return m.streams[id], nil
}

// readData reads a frame with data, and gives the data to the stream as they arrive. A frame may be longer than what
// has arrived.
func (m *mux) readData(h http2.FrameHeader) error {
	s, err := m.stream(h.StreamID)
	if err != nil {
		return err
	}
	if m.left.Add(-int64(h.Length)) < 0 {
		return http2.ConnectionError(http2.ErrCodeFlowControl)
	}
	if s == nil {
		return m.skip(int(h.Length))
	}
	if why := s.accepts(int(h.Length)); why != nil {
		m.breaks(h.StreamID, why.Code, why.Cause)
		return m.skip(int(h.Length))
	}
	left, pad := int(h.Length), 0
	if h.Flags.Has(http2.FlagDataPadded) {
		if left == 0 {
			return http2.ConnectionError(http2.ErrCodeFrameSize)
		}
		n, err := m.in.ReadByte()
		if err != nil {
			return err
		}
		left--
		if pad = int(n); pad > left {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		left -= pad
		m.credit(s, 1)
	}
	for left > 0 {
		if _, err := m.in.Peek(1); err != nil {
			return err
		}
		data, _ := m.in.Peek(min(left, m.in.Buffered()))
		m.in.Discard(len(data)) // data stay as they are until the next read
		left -= len(data)
		if !s.take(data, m.moment()) {
			m.credit(nil, len(data))
		}
	}
	if pad > 0 {
		if _, err := m.in.Discard(pad); err != nil {
			return err
		}
		m.credit(s, pad)
	}
	if h.Flags.Has(http2.FlagDataEndStream) {
		m.finish(s, m.moment())
	}
	return nil
}

// skip skips n bytes of data that no stream reads.
func (m *mux) skip(n int) error {
	if _, err := m.in.Discard(n); err != nil {
		return err
	}
	m.credit(nil, n)
	return nil
}

// readFrame reads a frame without data.
func (m *mux) readFrame(h http2.FrameHeader) error {
	at := m.moment()
	if h.Type == http2.FrameHeaders {
		m.from.budget = 2 * maxHead // frames CONTINUATION may be empty, and their number has no limit
	}
	f, err := m.read.ReadFrameForHeader(h)
	m.from.budget = math.MaxInt64
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return m.readHead(f, at)
	case *http2.SettingsFrame:
		return m.set(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			data := f.Data
			m.answer(func(w *http2.Framer) { w.WritePing(true, data) })
		}
	case *http2.WindowUpdateFrame:
		return m.grow(f)
	case *http2.RSTStreamFrame:
		return m.reset(f)
	case *http2.GoAwayFrame:
		m.goAway(f)
	case *http2.PushPromiseFrame: // which the client does not allow
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// readHead gives a head to its stream. It skips interim responses, which have a status of 1xx (RFC 9110, 15.2), and
// trailers.
func (m *mux) readHead(f *http2.MetaHeadersFrame, at moment) error {
	s, err := m.stream(f.StreamID)
	if s == nil {
		return err
	}
	if s.hasHead() {
		if !f.StreamEnded() {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol, Cause: errors.New("a second head")}
		}
		m.finish(s, m.moment())
		return nil
	}
	head, err := newHead(f)
	switch {
	case err != nil:
		s.fail(err, true)
		m.answer(func(w *http2.Framer) { w.WriteRSTStream(f.StreamID, http2.ErrCodeProtocol) })
		return nil
	case head.status < 200 && f.StreamEnded():
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol, Cause: errors.New("the stream ends with an interim response")}
	case head.status < 200:
		if s.interim += frameHead + int(f.Length); s.interim > maxHead {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeEnhanceYourCalm, Cause: errLongHead}
		}
		return nil
	}
	head.at = at
	s.answered(head)
	if f.StreamEnded() {
		m.finish(s, m.moment())
	}
	m.wakeWriters()
	return nil
}

// A head is the head of a response.
type head struct {
	status int
	header http.Header
	length int64 // of the body; -1 means unknown
	at     moment
}

// newHead returns the head in f.
func newHead(f *http2.MetaHeadersFrame) (*head, error) {
	if f.Truncated {
		return nil, errLongHead
	}
	if n := len(f.RegularFields()); n > maxFields {
		return nil, fmt.Errorf("a response's head with %d fields: want at most %d", n, maxFields)
	}
	status, err := strconv.Atoi(f.PseudoValue("status"))
	if err != nil || status < 100 || status > 999 || status == http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("a response's head with the status %.20q", f.PseudoValue("status"))
	}
	h := &head{status: status, header: http.Header{}, length: -1}
	for _, field := range f.RegularFields() {
		h.header.Add(field.Name, field.Value)
	}
	if values := h.header["Content-Length"]; len(values) > 0 {
		n, err := strconv.ParseUint(values[0], 10, 63)
		if err != nil || len(values) > 1 {
			return nil, fmt.Errorf("a response's head with the Content-Length %.60q: want one number", values)
		}
		h.length = int64(n)
	}
	return h, nil
}

// finish ends a stream that the server has ended.
func (m *mux) finish(s *stream, at moment) {
	s.finish(at)
	m.wakeWriters()
}

// wakeWriters wakes the requests that wait for a window.
func (m *mux) wakeWriters() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moved.Broadcast()
}

// set applies the server's settings.
func (m *mux) set(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	if f.HasDuplicates() {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	table := int64(-1)
	m.mu.Lock()
	err := f.ForeachSetting(func(v http2.Setting) error {
		if err := v.Valid(); err != nil {
			return err
		}
		switch v.ID {
		case http2.SettingMaxConcurrentStreams:
			m.limit = int(min(v.Val, maxStreamID))
		case http2.SettingMaxFrameSize:
			m.frame = int(min(v.Val, writeSize))
		case http2.SettingHeaderTableSize:
			table = int64(min(v.Val, 4096))
		case http2.SettingInitialWindowSize:
			delta := int64(v.Val) - m.initial
			m.initial = int64(v.Val)
			for _, s := range m.streams {
				if s.window += delta; s.window > math.MaxInt32 {
					return http2.ConnectionError(http2.ErrCodeFlowControl)
				}
			}
		}
		return nil
	})
	m.moved.Broadcast()
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if table >= 0 {
		m.control.Lock()
		m.control.table = table
		m.control.Unlock()
	}
	m.answer(func(w *http2.Framer) { w.WriteSettingsAck() })
	select {
	case <-m.settled:
	default:
		close(m.settled)
	}
	return nil
}

// grow adds to a window of the server.
func (m *mux) grow(f *http2.WindowUpdateFrame) error {
	if f.StreamID != 0 {
		if _, err := m.stream(f.StreamID); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moved.Broadcast()
	if f.StreamID == 0 {
		if m.window += int64(f.Increment); m.window > math.MaxInt32 {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
		return nil
	}
	if s := m.streams[f.StreamID]; s != nil {
		if s.window += int64(f.Increment); s.window > math.MaxInt32 {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeFlowControl}
		}
	}
	return nil
}

// reset ends a stream that the server has reset.
func (m *mux) reset(f *http2.RSTStreamFrame) error {
	s, err := m.stream(f.StreamID)
	if s == nil {
		return err
	}
	err = fmt.Errorf("the server reset the stream: RST_STREAM with %v", f.ErrCode)
	if f.ErrCode == http2.ErrCodeRefusedStream {
		err = notProcessed{err, true}
	}
	s.fail(err, true)
	return nil
}

// goAway handles that the server takes no further requests. The server has not processed the streams after the one that
// it names, and answers the others.
func (m *mux) goAway(f *http2.GoAwayFrame) {
	away := &goAway{f.ErrCode, string(f.DebugData())}
	err := notProcessed{fmt.Errorf("the server has not processed the request: %v", away), true}
	m.mu.Lock()
	m.away = away
	over := m.active == 0
	var refused []*stream
	for id, s := range m.streams {
		if id > f.LastStreamID {
			refused = append(refused, s)
		}
	}
	m.mu.Unlock()
	for _, s := range refused {
		s.fail(err, true)
	}
	if over {
		m.fail(errClosed)
	}
}

// A goAway is what a server said when it took no further requests.
type goAway struct {
	code  http2.ErrCode
	debug string
}

func (g *goAway) String() string {
	text := fmt.Sprintf("GOAWAY with %v", g.code)
	if g.debug != "" {
		text += fmt.Sprintf(" %.100q", g.debug)
	}
	return text
}

// credit lets the server send n further bytes, on s unless s is nil, and on the connection.
func (m *mux) credit(s *stream, n int) {
	if s != nil {
		s.credit(n)
	}
	if m.free.Add(int64(n)) < muxWindow/4 {
		return
	}
	if n := m.free.Swap(0); n > 0 {
		m.left.Add(n)
		m.answer(func(f *http2.Framer) { f.WriteWindowUpdate(0, uint32(n)) })
	}
}
