package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// DefaultMaxEventSize is the limit in bytes when [Decoder.MaxEventSize] is 0.
const DefaultMaxEventSize = 64 << 20

// ErrTooLarge is the error, wrapped with the limit, for a line or an event's
// data longer than [Decoder.MaxEventSize].
var ErrTooLarge = errors.New("event too large")

// minBuffer is the first size of a decoder's buffer in bytes.
const minBuffer = 8 << 10

// maxRead bounds one Read, so that a decoder whose buffer once grew for a huge
// event does not go on reading in huge pieces.
const maxRead = 64 << 10

// maxEmptyReads is how many Reads in a row may return neither bytes nor an
// error before the decoder gives up with [io.ErrNoProgress], as bufio does.
const maxEmptyReads = 100

// message is the type of an event that names none.
var message = []byte("message")

// bom is the UTF-8 byte order mark.
const bom = "\xef\xbb\xbf"

// An Event is one dispatched event. Its bytes belong to the [Decoder] and hold
// until the next call of its Next or Reset.
type Event struct {
	// Type is the event's name, "message" if the stream gave none.
	Type []byte
	// Data is the data lines, joined with LF. It may be empty: a lone "data:"
	// line makes an event.
	Data []byte
	// ID is the last event ID of the stream, which persists from event to
	// event; empty when there was none or the stream reset it.
	ID []byte
	// Unterminated tells that the body ended before the blank line that
	// completes the event: the server may have been cut off within it.
	Unterminated bool
}

// A Decoder reads events from a body. Its zero value is not ready: use
// [NewDecoder]. It is for one goroutine.
type Decoder struct {
	// MaxEventSize is the most bytes that a line, or the joined data of an
	// event, may have; 0 means [DefaultMaxEventSize]. Whether an event passes
	// does not depend on how reads split it.
	MaxEventSize int

	r   io.Reader
	err error // what ended the stream; sticky

	// buf[pos:end] is read and not yet consumed.
	buf      []byte
	pos, end int
	// What is known of the line ends in buf[pos:end], so that no byte is looked
	// at twice however the reads split a line: lf is the index of the next LF,
	// or less than pos; there is none other before lfTo, and no CR before crTo.
	lf, lfTo, crTo int

	start  bool // nothing was consumed yet: a byte order mark may come
	skipLF bool // the last line ended with CR: an LF that follows belongs to it

	// The event being built. While it has a single data line that lies in
	// buf, that line is not copied: it is buf[from:to] and inBuf is set.
	hasData  bool
	inBuf    bool
	from, to int
	data     []byte
	typ      []byte
	id       []byte // the ID buffer of the specification
	lastID   []byte // the committed last event ID

	retry    time.Duration
	hasRetry bool
}

// NewDecoder returns a decoder of the body r, which it reads with a buffer of its
// own.
func NewDecoder(r io.Reader) *Decoder {
	d := new(Decoder)
	d.Reset(r)
	return d
}

// Reset makes d as new for the body r, keeping MaxEventSize and its buffers.
func (d *Decoder) Reset(r io.Reader) {
	*d = Decoder{
		MaxEventSize: d.MaxEventSize,
		r:            r,
		buf:          d.buf,
		start:        true,
		data:         d.data[:0],
		typ:          d.typ[:0],
		id:           d.id[:0],
		lastID:       d.lastID[:0],
	}
}

// Retry returns the reconnection time that the stream last asked for, and
// whether it asked for one.
func (d *Decoder) Retry() (time.Duration, bool) { return d.retry, d.hasRetry }

// Next returns the next event. The error is [io.EOF] after the last event of a
// body that ended cleanly, wraps [ErrTooLarge] when an event passes
// MaxEventSize, and is the reader's own when reading failed; an event that was
// under way is then dropped. After an error every call returns that error. An
// event never comes together with an error.
func (d *Decoder) Next() (e Event, err error) {
	// What the last event lent out is free again.
	d.hasData, d.inBuf = false, false
	d.data = d.data[:0]
	for {
		if d.pos == d.end && d.err == nil {
			d.fill()
		}
		from, to, ok := d.line()
		if !ok {
			if d.err == nil {
				d.fill()
				continue
			}
			if d.err != io.EOF || !d.finish() {
				return e, d.err
			}
			e.Unterminated = true
			break
		}
		if from < to {
			if err := d.field(from, to); err != nil {
				d.err = err
				return e, err
			}
			continue
		}
		d.lastID = append(d.lastID[:0], d.id...)
		if d.hasData {
			break
		}
		d.typ = d.typ[:0]
	}
	e.Type, e.Data, e.ID = message, d.data, d.lastID
	if d.inBuf {
		e.Data = d.buf[d.from:d.to]
	}
	if len(d.typ) > 0 {
		e.Type = d.typ
		d.typ = d.typ[:0] // its bytes stay until the next Next writes them
	}
	return e, nil
}

// finish ends a body that ended cleanly: its last line may lack a line end and
// its last event a blank line. It reports whether there is such an event.
func (d *Decoder) finish() bool {
	if from := d.pos; from < d.end {
		d.pos = d.end
		if err := d.field(from, d.end); err != nil {
			d.err = err
			return false
		}
	}
	d.lastID = append(d.lastID[:0], d.id...)
	return d.hasData
}

// field takes the line buf[from:to], which is not blank.
func (d *Decoder) field(from, to int) error {
	if to-from > d.limit() {
		return d.tooLarge()
	}
	line := d.buf[from:to]
	if len(line) > 5 && string(line[:5]) == "data:" && !d.hasData {
		// Nearly every line of every server: leave the value where it is.
		from += 5
		if d.buf[from] == ' ' {
			from++
		}
		d.hasData, d.inBuf = true, true
		d.from, d.to = from, to
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		d.settle()
		if d.hasData {
			d.data = append(d.data, '\n')
		}
		d.hasData = true
		d.data = append(d.data, value...)
		if len(d.data) > d.limit() {
			return d.tooLarge()
		}
	case "event":
		d.typ = append(d.typ[:0], value...)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			d.id = append(d.id[:0], value...)
		}
	case "retry":
		d.setRetry(value)
	}
	return nil
}

// settle copies a data line that still lies in buf to where it is safe from the
// next read.
func (d *Decoder) settle() {
	if d.inBuf {
		d.data = append(d.data[:0], d.buf[d.from:d.to]...)
		d.inBuf = false
	}
}

// setRetry takes the value of a retry field: ASCII digits only, else nothing.
func (d *Decoder) setRetry(value []byte) {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	var ms int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return
		}
		ms = min(ms*10+int64(c-'0'), most/16) // far beyond any use, and safe from overflow
	}
	if len(value) > 0 {
		d.retry, d.hasRetry = time.Duration(ms)*time.Millisecond, true
	}
}

// line consumes the next line and returns where in buf it lies, without its
// end; or false when buf holds no complete line.
func (d *Decoder) line() (from, to int, ok bool) {
	if d.start && !d.dropBOM() {
		return 0, 0, false
	}
	if d.skipLF && d.pos < d.end {
		d.skipLF = false
		if d.buf[d.pos] == '\n' {
			d.pos++
		}
	}
	from = d.pos
	if from < d.end && d.buf[from] == '\n' { // a blank line needs no search
		d.pos++
		return from, from, true
	}
	if d.lf < from { // the next LF is not known: look at what came since
		at := max(from, d.lfTo)
		d.lfTo = d.end
		if i := bytes.IndexByte(d.buf[at:d.end], '\n'); i >= 0 {
			d.lf = at + i
			d.lfTo = d.lf + 1
		}
	}
	found := d.lf >= from
	to = d.end
	if found {
		to = d.lf
	}
	if at := max(from, d.crTo); at < to {
		if i := bytes.IndexByte(d.buf[at:to], '\r'); i >= 0 {
			found = true
			to = at + i
			d.skipLF = true
		}
		d.crTo = to
	}
	if found {
		d.pos = to + 1
	}
	return from, to, found
}

// dropBOM drops a leading byte order mark. It reports false while the bytes
// that came so far do not yet tell whether there is one.
func (d *Decoder) dropBOM() bool {
	head := d.buf[d.pos:min(d.end, d.pos+len(bom))]
	if len(head) < len(bom) && string(head) == bom[:len(head)] && d.err == nil {
		return false
	}
	d.start = false
	if string(head) == bom {
		d.pos += len(bom)
	}
	return true
}

// fill reads once more into buf. It sets err when that failed, or when the
// event under way would take more memory than it may.
func (d *Decoder) fill() {
	d.settle()
	if d.pos > 0 { // what is left is less than a line: move it to the front
		copy(d.buf, d.buf[d.pos:d.end])
		d.end -= d.pos
		d.pos = 0
	}
	d.lf, d.lfTo, d.crTo = -1, d.end, d.end // line found no line end in it
	if d.end > d.limit() {
		d.err = d.tooLarge()
		return
	}
	if d.end == len(d.buf) { // full of one unfinished line
		grown := make([]byte, min(max(minBuffer, 2*len(d.buf)), d.limit()+minBuffer))
		copy(grown, d.buf[:d.end])
		d.buf = grown
	}
	room := d.buf[d.end:min(len(d.buf), d.end+maxRead)]
	for range maxEmptyReads {
		n, err := d.r.Read(room)
		if n < 0 || n > len(room) {
			panic(fmt.Sprintf("sse: reader returned %d bytes for a buffer of %d", n, len(room)))
		}
		d.end += n
		d.err = err
		if n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

func (d *Decoder) limit() int {
	if d.MaxEventSize > 0 {
		return d.MaxEventSize
	}
	return DefaultMaxEventSize
}

// tooLarge gives up what was read: no event is made of the rest of one that was
// too large.
func (d *Decoder) tooLarge() error {
	d.pos = d.end
	return fmt.Errorf("sse: %w: more than %d bytes", ErrTooLarge, d.limit())
}
