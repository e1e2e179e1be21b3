package sse

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// DefaultMaxEventSize is the limit in bytes when [Decoder.MaxEventSize] is 0.
const DefaultMaxEventSize = 64 << 20

// ErrTooLarge is the error, wrapped with the limit, for a line or an event's
// data longer than [Decoder.MaxEventSize].
var ErrTooLarge = errors.New("event too large")

// message is the type of an event that names none.
var message = []byte("message")

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
	// Format is how the body is cut into events; plain EventStream unless set.
	// It must not change within a body.
	Format Format

	r   io.Reader
	err error // what ended the stream; sticky

	// buf[pos:end] is read and not yet consumed.
	buf      []byte
	pos, end int
	// What is known of the line ends in buf[pos:end], so that no byte is looked
	// at twice however the reads split a line: lf is the index of the next LF,
	// or less than pos; there is none other before lfTo, and no CR before crTo
	// nor, where it ends lines, NUL.
	lf, lfTo, crTo int

	start  bool // nothing was consumed yet: a byte order mark may come
	open   bool // the format is settled
	lines  bool // each line is an event
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

// Reset makes d as new for the body r, keeping MaxEventSize, Format and its
// buffers.
func (d *Decoder) Reset(r io.Reader) {
	*d = Decoder{
		MaxEventSize: d.MaxEventSize,
		Format:       d.Format,
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
			if d.lines {
				break
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
	if d.lines {
		d.hasData, d.inBuf = true, true
		d.from, d.to = from, to
		return nil
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
		return d.addData(value)
	case "error":
		if d.Format == Auto {
			d.typ = append(d.typ[:0], "error"...)
			return d.addData(value)
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

// addData adds a line to the data of the event.
func (d *Decoder) addData(value []byte) error {
	d.settle()
	size := len(d.data) + len(value)
	if d.hasData {
		size++
	}
	if size > d.limit() {
		return d.tooLarge()
	}
	d.reserve(size)
	if d.hasData {
		d.data = append(d.data, '\n')
	}
	d.hasData = true
	d.data = append(d.data, value...)
	return nil
}

// settle copies a data line that still lies in buf to where it is safe from the
// next read.
func (d *Decoder) settle() {
	if d.inBuf {
		d.data = d.data[:0]
		d.reserve(d.to - d.from)
		d.data = append(d.data, d.buf[d.from:d.to]...)
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
