package conn

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// A stream is a request on a [mux], and its answer.
type stream struct {
	mux     *mux
	id      uint32 // 0 before the request is sent
	window  int64  // bytes of the request's body that the server accepts; guarded by mux.mu
	interim int    // size of the interim responses so far, in bytes; used only by mux.run

	mu      sync.Mutex
	changed sync.Cond
	head    *head
	queue   *queued // what has arrived and was not read; nil if there is nothing
	left    int     // bytes that the server may still send
	free    int     // bytes that were read since the last WINDOW_UPDATE of the stream
	got     int64   // bytes of the body so far
	ended   bool    // the server has ended the stream
	end     moment  // when it did
	err     error   // why the stream has ended in another way, or nil
	over    bool    // the server sends nothing more, or was told that the stream has ended
	closed  bool    // nothing is read from the stream any more
}

// queued holds data in the order of their arrival.
type queued struct {
	data  []byte
	parts []part
	read  int // number of parts that were read
	at    int // number of bytes of data that were read
}

// A part is a series of bytes with the same moment.
type part struct {
	n  int
	at moment
}

var spareQueues = sync.Pool{New: func() any { return &queued{} }}

// maxSpareQueue is the maximum size in bytes of a queue that is kept for other streams.
const maxSpareQueue = 64 << 10

func newStream(m *mux) *stream {
	s := &stream{mux: m, left: streamWindow}
	s.changed.L = &s.mu
	return s
}

// accepts returns an error if the server must not send n bytes of data now.
func (s *stream) accepts(n int) *http2.StreamError {
	s.mu.Lock()
	defer s.mu.Unlock()
	broken := func(code http2.ErrCode, format string, args ...any) *http2.StreamError {
		return &http2.StreamError{StreamID: s.id, Code: code, Cause: fmt.Errorf(format, args...)}
	}
	switch s.left -= n; {
	case s.head == nil && s.err == nil:
		return broken(http2.ErrCodeProtocol, "data before the head")
	case s.ended:
		return broken(http2.ErrCodeStreamClosed, "data after the end of the stream")
	case s.left < 0:
		return broken(http2.ErrCodeFlowControl, "more data than the window of %d bytes", streamWindow)
	}
	return nil
}

// take adds data to what can be read. It returns false if nobody will read them.
func (s *stream) take(data []byte, at moment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.err != nil {
		return false
	}
	s.got += int64(len(data))
	if s.queue == nil {
		s.queue = spareQueues.Get().(*queued)
	}
	q := s.queue
	q.data = append(q.data, data...)
	if last := len(q.parts) - 1; last >= q.read && q.parts[last].at.batch == at.batch && q.parts[last].at.stamp == at.stamp && at.batch != 0 {
		q.parts[last].n += len(data)
		q.parts[last].at = at
	} else {
		q.parts = append(q.parts, part{len(data), at})
	}
	s.changed.Signal()
	return true
}

// answered sets the head.
func (s *stream) answered(h *head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = h
	s.changed.Signal()
}

func (s *stream) hasHead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head != nil
}

// finish ends the stream as the server has ended it.
func (s *stream) finish(at moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil || s.ended:
		return
	case s.head.length >= 0 && s.got != s.head.length:
		s.err = fmt.Errorf("a body of %d bytes; the Content-Length is %d: %w", s.got, s.head.length, io.ErrUnexpectedEOF)
	default:
		s.ended, s.end = true, at
	}
	s.changed.Signal()
}

// fail ends the stream with err, unless it has ended. The argument over says that the server knows that the stream has
// ended. The caller must not hold mux.mu.
func (s *stream) fail(err error, over bool) {
	s.mu.Lock()
	if s.err == nil && !s.ended {
		s.err = err
		s.changed.Signal()
	}
	s.over = s.over || over
	s.mu.Unlock()
	s.mux.wakeWriters()
}

// failure returns why the stream has failed, or nil.
func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// stuckTime is how long a write to the network may last after a request that needs the connection was given up.
const stuckTime = time.Second

// cancel ends the stream because its request was given up. If the server does not read from the connection, the mux
// fails, because no request can use it.
func (s *stream) cancel(why error) {
	m := s.mux
	s.fail(why, false)
	if since := m.since.Load(); since != 0 {
		time.AfterFunc(stuckTime, func() {
			if m.since.Load() == since {
				m.fail(fmt.Errorf("the server read nothing from its connection for %v", stuckTime))
			}
		})
	}
}

// wantsRequest reports whether the server may still want the rest of the request.
func (s *stream) wantsRequest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == nil && !s.ended && (s.head == nil || s.head.status < 300)
}

// waitHead waits for the head of the response.
func (s *stream) waitHead() (*head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.head == nil && s.err == nil {
		s.changed.Wait()
	}
	if s.head == nil {
		return nil, s.err
	}
	return s.head, nil
}

// wait waits until there is something to read, or until the stream ends. The caller must hold mu.
func (s *stream) wait() {
	for s.queue == nil && s.err == nil && !s.ended {
		s.changed.Wait()
	}
}

// credit lets the server send n further bytes.
func (s *stream) credit(n int) {
	s.mu.Lock()
	s.free += n
	grow := 0
	if s.free >= streamWindow/4 && !s.ended && s.err == nil {
		grow, s.free = s.free, 0
		s.left += grow
	}
	s.mu.Unlock()
	if grow > 0 {
		s.mux.answer(func(f *http2.Framer) { f.WriteWindowUpdate(s.id, uint32(grow)) })
	}
}

// A muxBody is the body of a response on a [mux].
type muxBody struct {
	*stream
	unwatch func() bool
	whole   bool   // the whole request was sent
	at      moment // of what the last Read returned
}

// Read returns bytes of one moment.
func (b *muxBody) Read(p []byte) (n int, err error) {
	s := b.stream
	s.mu.Lock()
	s.wait()
	switch q := s.queue; {
	case q != nil:
		first := &q.parts[q.read]
		n = copy(p, q.data[q.at:][:first.n])
		b.at = first.at
		q.at += n
		if first.n -= n; first.n > 0 {
			b.at.follows = true
		} else if q.read++; q.read == len(q.parts) {
			s.letGo()
		}
	case s.err != nil:
		err = s.err
	default:
		b.at, err = s.end, io.EOF
	}
	s.mu.Unlock()
	if n > 0 {
		s.mux.credit(s, n)
	}
	return n, err
}

// letGo releases the queue. The caller must hold mu.
func (s *stream) letGo() {
	if q := s.queue; q != nil && cap(q.data) <= maxSpareQueue {
		*q = queued{data: q.data[:0], parts: slices.Delete(q.parts, 0, len(q.parts))}
		spareQueues.Put(q)
	}
	s.queue = nil
}

// await waits until there is something to read, or until the stream ends.
func (b *muxBody) await() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait()
}

func (b *muxBody) canAwait() bool { return true }

// Close ends the stream if the server has not ended it.
func (b *muxBody) Close() error {
	b.unwatch()
	b.mux.drop(b.stream, b.whole)
	return nil
}

// drop removes a stream that nobody reads any more, and gives its place to another request. The argument whole says that
// the whole request was sent.
func (m *mux) drop(s *stream, whole bool) {
	m.mu.Lock()
	sent := m.streams[s.id] == s
	delete(m.streams, s.id)
	m.mu.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	unread := 0
	if s.queue != nil {
		unread = len(s.queue.data) - s.queue.at
		s.letGo()
	}
	ended := s.ended && whole || s.over
	s.mu.Unlock()
	if sent && !ended {
		m.answer(func(f *http2.Framer) { f.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
	m.credit(nil, unread)
	m.leave()
}
