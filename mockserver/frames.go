package mockserver

import (
	"encoding/binary"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A tap sees the frames of a connection of HTTP/2 that net/http serves. It tells observers when the data of a stream are
// written to the network: net/http writes them some time after a handler has flushed them, together with data of other
// streams. The handler does not know the number of its stream, so the tap finds it by the field X-Request-Id of the
// request's header.
type tap struct {
	in, out scanner
	block   []byte // part of a header block of the client
	fields  *hpack.Decoder

	mu      sync.Mutex
	ids     map[string]uint32  // streams by the X-Request-Id of their requests, of which no handler has asked; 0 is for several streams with the same ID
	written map[uint32]int     // bytes of data that were written, by stream
	waiting map[uint32]*notice // by stream
	ended   bool               // the connection is closed, or the client's frames cannot be read
}

// A notice waits until data of a stream are written, in one or several writes.
type notice struct {
	observer observer
	from, to int           // number of bytes of data of the stream before these data, and including them
	begun    bool          // the first write has begun
	done     chan struct{} // closed when the last write has ended
}

// maxIDs is the maximum number of streams of which no handler has asked. Requests other than those for completions are
// among them.
const maxIDs = 10_000

func newTap() *tap {
	t := &tap{ids: map[string]uint32{}, written: map[uint32]int{}, waiting: map[uint32]*notice{}}
	t.fields = hpack.NewDecoder(4096, nil)
	return t
}

// stream returns the stream of the request with the given X-Request-Id, or 0 if it is not known.
func (t *tap) stream(id string) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.ids[id]
	delete(t.ids, id)
	return s
}

// expect makes o observe the write of a stream's data from one byte to another: the beginning of the first write, and the
// end of the last one. If the client's frames cannot be read, expect returns nil.
func (t *tap) expect(stream uint32, from, to int, o observer) *notice {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil
	}
	n := &notice{observer: o, from: from, to: to, done: make(chan struct{})}
	t.waiting[stream] = n
	return n
}

// forget makes the observer of n observe nothing any more.
func (t *tap) forget(stream uint32, n *notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[stream] == n {
		delete(t.waiting, stream)
	}
}

// read looks at what the client has sent.
func (t *tap) read(p []byte) {
	t.in.scan(p, func(f frameHead, payload []byte, end bool) {
		if f.kind != http2.FrameHeaders && f.kind != http2.FrameContinuation {
			return
		}
		t.block = append(t.block, payload...)
		if end && f.flags.Has(http2.FlagHeadersEndHeaders) {
			t.header(f)
			t.block = t.block[:0]
		}
	})
}

// header decodes the header block of a request.
func (t *tap) header(f frameHead) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := ""
	t.fields.SetEmitFunc(func(h hpack.HeaderField) {
		if h.Name == "x-request-id" {
			id = h.Value
		}
	})
	if _, err := t.fields.Write(t.in.trim(t.block)); err != nil || t.fields.Close() != nil {
		t.ended = true // net/http closes the connection, too
		return
	}
	if id == "" {
		return
	}
	if len(t.ids) >= maxIDs {
		clear(t.ids)
	}
	if _, several := t.ids[id]; several {
		t.ids[id] = 0
		return
	}
	t.ids[id] = f.stream
}

// write writes p to c, and tells the observers of the data in p.
func (t *tap) write(c net.Conn, p []byte) (int, error) {
	var due []uint32 // streams
	t.mu.Lock()
	t.out.scan(p, func(f frameHead, payload []byte, end bool) {
		switch {
		case f.kind == http2.FrameData:
			t.written[f.stream] += len(payload)
			if n := t.waiting[f.stream]; n != nil {
				if !n.begun && t.written[f.stream] > n.from {
					n.begun = true
					n.observer.writing()
				}
				if t.written[f.stream] >= n.to {
					due = append(due, f.stream)
				}
			}
			if end && f.flags.Has(http2.FlagDataEndStream) {
				delete(t.written, f.stream)
			}
		case f.kind == http2.FrameRSTStream:
			delete(t.written, f.stream)
		}
	})
	t.mu.Unlock()
	written, err := c.Write(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, stream := range due {
		if n := t.waiting[stream]; n != nil {
			n.observer.wrote()
			delete(t.waiting, stream)
			close(n.done)
		}
	}
	return written, err
}

// A frameHead is the head of a frame (RFC 9113, 4.1).
type frameHead struct {
	length int
	kind   http2.FrameType
	flags  http2.Flags
	stream uint32
}

// A scanner divides a series of bytes, which comes in pieces, into frames.
type scanner struct {
	head  []byte
	frame frameHead
	left  int         // bytes of the payload that have not come
	flags http2.Flags // of the last frame HEADERS
}

// scan calls f with each part of a payload in p. The argument end says that the payload ends with it.
func (s *scanner) scan(p []byte, f func(h frameHead, payload []byte, end bool)) {
	const size = 9
	for len(p) > 0 {
		if s.left == 0 {
			n := min(size-len(s.head), len(p))
			s.head = append(s.head, p[:n]...)
			p = p[n:]
			if len(s.head) < size {
				return
			}
			s.frame = frameHead{
				int(s.head[0])<<16 | int(s.head[1])<<8 | int(s.head[2]), http2.FrameType(s.head[3]), http2.Flags(s.head[4]),
				binary.BigEndian.Uint32(s.head[5:]) &^ (1 << 31),
			}
			s.head = s.head[:0]
			if s.frame.kind == http2.FrameHeaders {
				s.flags = s.frame.flags
			}
			if s.left = s.frame.length; s.left == 0 {
				f(s.frame, nil, true)
			}
			continue
		}
		n := min(s.left, len(p))
		s.left -= n
		f(s.frame, p[:n], s.left == 0)
		p = p[n:]
	}
}

// trim removes padding and priority from the payloads of a frame HEADERS and of the frames CONTINUATION after it. The
// padding is at the end of the frame HEADERS, so trim supports it only without CONTINUATION.
func (s *scanner) trim(block []byte) []byte {
	pad := 0
	if s.flags.Has(http2.FlagHeadersPadded) && len(block) > 0 {
		pad = int(block[0])
		block = block[1:]
	}
	if s.flags.Has(http2.FlagHeadersPriority) && len(block) >= 5 {
		block = block[5:]
	}
	return block[:max(0, len(block)-pad)]
}
