package conn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// The limits of a connection of HTTP/2. The windows (RFC 9113, 5.2) are so large that a server is held back only if
// the client has not read that much for a while; they limit the memory that a server can fill.
const (
	streamWindow = 16 << 20 // bytes of one stream that the server may send ahead of the client
	muxWindow    = 64 << 20 // the same for all streams of a connection together
	maxControl   = 64 << 10 // maximum size of the answers to PING and SETTINGS that the server does not read, in bytes
	maxStreams   = 1000     // maximum number of streams at the same time if the server states no limit, as in net/http
	maxStreamID  = math.MaxInt32
	// settingsTimeout is how long a server may take for its first frame.
	settingsTimeout = 10 * time.Second
)

// A mux is a connection of HTTP/2 (RFC 9113): it carries several streams at the same time, one for each request. Its
// own goroutine reads all frames, gives the data of each frame to its stream, and tells the stream when they arrived.
// The goroutine that sends a request writes the request. A further goroutine writes the answers to frames such as PING,
// so that the first one never waits for a write.
type mux struct {
	conn *Conn
	in   *bufio.Reader // reads from source; used only by run
	from source
	read *http2.Framer // used only by run
	left atomic.Int64  // bytes that the server may still send on all streams
	free atomic.Int64  // bytes that were read since the last WINDOW_UPDATE of the connection

	// Whoever writes to the connection has put an element into writing. The fields after it belong to this writer.
	writing chan struct{}
	out     bytes.Buffer // frames that are to be written
	write   *http2.Framer
	encoder *hpack.Encoder
	fields  bytes.Buffer // the encoder's output
	chunk   []byte       // part of a body
	since   atomic.Int64 // when the current write to the network began, in ns since from.base; 0 means that there is none

	control struct { // what the goroutine writeControl has to write
		sync.Mutex
		out    bytes.Buffer
		frames *http2.Framer
		table  int64         // size of the table for header fields that the server allows now; -1 means no change
		signal chan struct{} // has an element if there is something to write
	}

	mu      sync.Mutex
	moved   sync.Cond // a window has grown, or a stream has changed that waits for a window
	streams map[uint32]*stream
	active  int    // number of requests that use the mux, with and without a stream
	used    bool   // a request was sent
	next    uint32 // ID of the next stream
	limit   int    // number of streams that the server allows at the same time
	window  int64  // bytes that the server accepts on all streams
	initial int64  // bytes that the server accepts on a new stream
	frame   int    // maximum size of a frame's payload that the server accepts
	away    *goAway
	err     error // why the mux has ended, or nil
	idle    time.Time

	settled chan struct{} // closed when the server's first SETTINGS have come
	failed  chan struct{} // closed when err is set
	ended   chan struct{} // closed when run has returned
}

// newMux begins HTTP/2 on c, over which nothing was sent, and returns when the server's settings have come. If that
// fails, it closes c.
func newMux(ctx context.Context, c *Conn) (*mux, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settingsTimeout, fmt.Errorf("the server sent no frame SETTINGS of HTTP/2 within %v (does it speak HTTP/1.1 only? LLMBENCH_HTTP=1.1)", settingsTimeout))
	defer cancel()
	m := &mux{
		conn: c, chunk: make([]byte, maxFrame), writing: make(chan struct{}, 1), streams: map[uint32]*stream{}, next: 1,
		limit: maxStreams, window: 1<<16 - 1, initial: 1<<16 - 1, frame: maxFrame, idle: time.Now(),
		settled: make(chan struct{}), failed: make(chan struct{}), ended: make(chan struct{}),
	}
	m.moved.L = &m.mu
	m.left.Store(muxWindow)
	m.from = source{conn: c, base: time.Now(), budget: math.MaxInt64}
	m.in = bufio.NewReaderSize(&m.from, maxFrame)
	m.read = http2.NewFramer(nil, m.in)
	m.read.SetMaxReadFrameSize(maxFrame)
	m.read.ReadMetaHeaders, m.read.MaxHeaderListSize = hpack.NewDecoder(4096, nil), maxHead
	m.write, m.encoder = http2.NewFramer(&m.out, nil), hpack.NewEncoder(&m.fields)
	m.control.frames, m.control.table, m.control.signal = http2.NewFramer(&m.control.out, nil), -1, make(chan struct{}, 1)
	if c.kernel != nil {
		c.kernel.mark()
	}

	m.out.WriteString(http2.ClientPreface)
	m.write.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHead})
	m.write.WriteWindowUpdate(0, muxWindow-(1<<16-1))
	m.writing <- struct{}{}
	go m.run()
	go m.writeControl()
	stop := context.AfterFunc(ctx, func() { m.fail(context.Cause(ctx)) })
	defer stop()
	if err := m.flush(); err != nil {
		m.fail(err)
	}
	m.unlock()
	select {
	case <-m.settled:
		return m, nil
	case <-m.failed:
		<-m.ended
		return nil, m.err
	}
}

// lock begins a series of writes, which unlock ends. The error is why ctx or the mux has ended.
func (m *mux) lock(ctx context.Context) error {
	select {
	case m.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.failed:
		return m.err
	}
}

func (m *mux) unlock() { <-m.writing }

// flush writes m.out to the connection. The caller must hold writing.
func (m *mux) flush() error {
	m.since.Store(int64(max(1, m.from.now())))
	defer m.since.Store(0)
	_, err := m.conn.stream.Write(m.out.Bytes())
	m.out.Reset()
	if m.out.Cap() > 2*writeSize { // header fields may be large
		m.out = bytes.Buffer{}
	}
	return err
}

// answer adds frames to what the goroutine writeControl writes.
func (m *mux) answer(add func(f *http2.Framer)) {
	m.control.Lock()
	add(m.control.frames)
	size := m.control.out.Len()
	m.control.Unlock()
	if size > maxControl {
		m.fail(fmt.Errorf("the server asks for answers, but does not read them: %d bytes wait: want at most %d", size, maxControl))
		return
	}
	select {
	case m.control.signal <- struct{}{}:
	default:
	}
}

// writeControl writes the frames of answer until the mux has ended.
func (m *mux) writeControl() {
	for {
		select {
		case <-m.control.signal:
		case <-m.failed:
			return
		}
		select {
		case m.writing <- struct{}{}:
		case <-m.failed:
			return
		}
		m.control.Lock()
		if m.control.table >= 0 {
			m.encoder.SetMaxDynamicTableSize(uint32(m.control.table))
			m.control.table = -1
		}
		m.out.Write(m.control.out.Bytes())
		m.control.out.Reset()
		m.control.Unlock()
		err := m.flush()
		m.unlock()
		if err != nil {
			m.fail(err)
			return
		}
	}
}

// run reads frames until the connection ends.
func (m *mux) run() {
	defer close(m.ended)
	err := m.readFrames()
	if code, ok := errors.AsType[http2.ConnectionError](err); ok {
		detail := m.read.ErrorDetail()
		err = fmt.Errorf("a frame that breaks RFC 9113: %v", http2.ErrCode(code))
		if detail != nil {
			err = fmt.Errorf("%w: %w", err, detail)
		}
		m.sayGoodbye(http2.ErrCode(code))
	}
	m.fail(err)
}

// sayGoodbye tells the server why the client closes the connection, if that takes no time.
func (m *mux) sayGoodbye(code http2.ErrCode) {
	select {
	case m.writing <- struct{}{}:
		m.conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		m.write.WriteGoAway(0, code, nil)
		m.flush()
		m.unlock()
	default:
	}
}

// fail ends the mux with err: it closes the connection, and all streams end. Further calls do nothing.
func (m *mux) fail(err error) {
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		return
	}
	if errors.Is(err, io.EOF) { // as if the connection carried a single answer
		err = io.ErrUnexpectedEOF
	}
	if m.away != nil {
		err = fmt.Errorf("%w, after %v", err, m.away)
	}
	m.err = err
	streams := make([]*stream, 0, len(m.streams))
	for _, s := range m.streams {
		streams = append(streams, s)
	}
	m.mu.Unlock()
	if err == errClosed {
		m.conn.stream.Close() // TLS says goodbye
	} else {
		m.conn.Close()
	}
	for _, s := range streams {
		s.fail(err, true)
	}
	close(m.failed)
}

// close closes the connection, and returns when it is closed.
func (m *mux) close() {
	m.fail(errClosed)
	<-m.failed
	<-m.ended
}

var errClosed = errors.New("the client closed the connection")

// reserve reserves a place for a request. It returns false if the mux takes no further requests.
func (m *mux) reserve() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil || m.away != nil || m.active >= m.limit || int(m.next)+2*m.active >= maxStreamID {
		return false
	}
	m.active++
	return true
}

// leave gives back the place of a request.
func (m *mux) leave() {
	m.mu.Lock()
	m.active--
	m.idle = time.Now()
	over := m.active == 0 && m.away != nil
	m.mu.Unlock()
	if over {
		m.fail(errClosed)
	}
}

// room returns the number of further requests that the mux takes now, and its limit.
func (m *mux) room() (room, limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil || m.away != nil {
		return 0, m.limit
	}
	return max(0, m.limit-m.active), m.limit
}

// unused reports whether the mux has no request, and keep returns false for it.
func (m *mux) unused(keep func(used bool, idle time.Duration) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.active == 0 && (m.err != nil || m.away != nil || !keep(m.used, time.Since(m.idle)))
}

// over reports whether the mux has ended.
func (m *mux) over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err != nil
}

// A notProcessed is the error of a request of which the server says that it has not processed it (RFC 9113, 8.7), or
// that was not sent.
type notProcessed struct {
	error
	reached bool // the request may have reached the server
}

func (e notProcessed) Unwrap() error { return e.error }

// A source reads from a connection, and notes when its bytes arrived. Only the goroutine run uses it.
type source struct {
	conn   *Conn
	base   time.Time // instants are counted from here
	at     moment    // of the bytes that were read last
	user   time.Duration
	budget int64 // number of bytes that may still be read
}

// A moment is what a connection knows about bytes when it has read them.
type moment struct {
	stamp   int64  // the kernel's timestamp, in nanoseconds since 1970; 0 means none
	batch   uint32 // number of the batch on the connection
	several bool   // the batch came, or may have come, in several segments
	follows bool   // more bytes of the batch come after these, perhaps for another stream
	// All bytes of the batch arrived at one of these instants or later: after, which is counted from base, or
	// afterStamp if that is not 0.
	after      time.Duration
	afterStamp int64
}

// now returns the time since base.
func (r *source) now() time.Duration { return time.Since(r.base) }

// Read reads what has arrived, but at most the bytes of one timestamp.
func (r *source) Read(p []byte) (int, error) {
	if r.budget <= 0 {
		return 0, errLongHead
	}
	n, err := r.conn.stream.Read(p[:min(int64(len(p)), r.budget)])
	r.budget -= int64(n)
	before, stamp := r.user, r.at.stamp
	r.user = r.now()
	r.at.stamp = r.conn.stamp
	if b := &r.conn.batch; b.number != r.at.batch {
		r.at.batch, r.at.after, r.at.afterStamp = b.number, before, stamp
		if b.waited {
			r.at.afterStamp = 0
		}
	}
	return n, err
}

// errLongHead is the error of a head whose frames have too many bytes.
var errLongHead = fmt.Errorf("a response's head of more than %d bytes", maxHead)

// moment returns the moment of the byte that was read last from m.in.
func (m *mux) moment() moment {
	at := m.from.at
	at.several = m.conn.batch.several
	at.follows = m.in.Buffered() > 0 || m.conn.batch.open || slices.ContainsFunc(m.conn.records, func(r *records) bool { return len(r.held) > 0 })
	return at
}
