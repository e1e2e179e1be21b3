package frames

import (
	"io"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A Decoder reads events from a body. It is not safe for concurrent use.
type Decoder struct {
	// Budget, if not nil, limits the memory for large events of this decoder and others together. After too
	// large an event, Next returns an error that wraps [sse.ErrTooLarge].
	Budget *sse.Budget

	s      messages
	r      io.Reader
	waiter sse.Waiter // r, if r is a Waiter
	err    error      // the error that ended the stream; every later Next returns it

	// buf[pos:end] holds the bytes that were read and do not belong to an event yet.
	buf      []byte
	pos, end int
	taken    int64 // bytes of buf that count against Budget
}

// NewMessages returns a decoder of a body in Amazon's event stream format, application/vnd.amazon.eventstream
// (https://smithy.io/2.0/aws/amazon-eventstream.html). The decoder checks both checksums of each message.
//
// The ID of an event is the type of its message. In a message of type "event", the type of the event is the
// message's event type. In a message of type "exception", it is the name of the exception. In a message of
// type "error", it is the code of the error, and the data of the event is the text of the error.
func NewMessages(r io.Reader) *Decoder {
	d := new(Decoder)
	d.Reset(r)
	return d
}

// Reset prepares d for the body r.
func (d *Decoder) Reset(r io.Reader) {
	waiter, _ := r.(sse.Waiter)
	d.release()
	*d = Decoder{Budget: d.Budget, r: r, waiter: waiter, buf: d.buf}
	if len(d.buf) > keptBuffer {
		d.buf = nil
	}
}

// Buffered returns the number of bytes that were read but do not belong to an event yet.
func (d *Decoder) Buffered() int { return d.end - d.pos }

// Next returns the next event, whose bytes are valid until the next call. It returns [io.EOF] after the last
// event, [io.ErrUnexpectedEOF] if the body ended within an event, the error of the reader, or
// an error that wraps [ErrCorrupt] or [sse.ErrTooLarge]. After an error, every call returns the same error.
func (d *Decoder) Next() (sse.Event, error) {
	for {
		e, n, err := d.s.scan(d.buf[d.pos:d.end])
		switch {
		case err != nil:
			d.err = err
		case n > 0:
			d.pos += n
			return e, nil
		case d.err != nil:
		default:
			d.fill()
			continue
		}
		if d.err == io.EOF && d.pos < d.end {
			d.err = io.ErrUnexpectedEOF
		}
		d.pos = d.end
		d.letGo()
		d.release()
		return sse.Event{}, d.err
	}
}

const (
	// minBuffer is the first size of a buffer, in bytes.
	minBuffer = 2 << 10
	// keptBuffer is the size up to which a buffer is kept for the next body.
	keptBuffer = 64 << 10
	// maxRead is the maximum size of one Read.
	maxRead = 64 << 10
	// maxEmptyReads is the number of successive Reads with neither bytes nor an error after which the
	// decoder gives up.
	maxEmptyReads = 100
)

// fill reads once into buf, or sets err.
func (d *Decoder) fill() {
	copy(d.buf, d.buf[d.pos:d.end])
	d.pos, d.end = 0, d.end-d.pos
	if d.end == 0 && d.waiter != nil {
		d.letGo()
		d.waiter.Await()
	}
	switch {
	case len(d.buf) == 0:
		d.buf = spareBuffers.Get().(*[minBuffer]byte)[:]
	case d.end == len(d.buf):
		size := min(4*len(d.buf), maxEvent+maxRead)
		taken, err := d.Budget.Take(len(d.buf), size)
		if err != nil {
			d.err = err
			return
		}
		d.taken += taken
		d.buf = append(make([]byte, 0, size), d.buf...)[:size]
	}
	for range maxEmptyReads {
		n, err := d.r.Read(d.buf[d.end:min(len(d.buf), d.end+maxRead)])
		d.end += n
		if d.err = err; n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

// release drops a buffer that counts against the budget.
func (d *Decoder) release() {
	if d.taken > 0 {
		d.Budget.GiveBack(d.taken)
		d.buf, d.pos, d.end, d.taken = nil, 0, 0, 0
	}
}

// spareBuffers holds buffers that are not in use.
var spareBuffers = sync.Pool{New: func() any { return new([minBuffer]byte) }}

// letGo releases buf, which must have no bytes left, while the decoder of a body that can wait does not need
// it.
func (d *Decoder) letGo() {
	if d.waiter != nil && len(d.buf) == minBuffer {
		spareBuffers.Put((*[minBuffer]byte)(d.buf))
		d.buf, d.pos, d.end = nil, 0, 0
	}
}
