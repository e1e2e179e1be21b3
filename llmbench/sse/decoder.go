package sse

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// DefaultMaxEventSize is the limit in bytes if [Decoder.MaxEventSize] is 0.
const DefaultMaxEventSize = 64 << 20

// ErrTooLarge reports a line, or the data of an event, that is longer than
// [Decoder.MaxEventSize]. The error of [Decoder.Next] wraps ErrTooLarge and adds
// the limit.
var ErrTooLarge = errors.New("event too large")

// message is the type of an event without a type field.
var message = []byte("message")

// An Event is one event of the stream. Its bytes belong to the [Decoder] and are valid until the next call
// of Next or Reset.
type Event struct {
	// Type is the value of the event's "event" field, or "message" if there is no such field.
	Type []byte
	// Data holds the values of the data fields, joined with LF. It may be empty: a single line "data:" is
	// an event.
	Data []byte
	// ID is the last event ID of the stream, which persists from event to
	// event. It is empty if the stream set no ID or reset the ID.
	ID []byte
	// Unterminated reports that the body ended before the blank line that
	// completes the event. The event may be truncated.
	Unterminated bool
}

// A Decoder reads events from a body. [NewDecoder] or [Decoder.Reset] must be
// called before Next. A Decoder is not safe for concurrent use.
type Decoder struct {
	// MaxEventSize is the maximum size in bytes of a line, and of the joined data of an event. 0 means
	// [DefaultMaxEventSize]. Whether an event exceeds the limit does not depend on how the reads split the
	// event.
	MaxEventSize int
	// Budget, if not nil, limits the memory for buffers of this decoder and other decoders together. If too
	// little is left for an event, the error is the same as for an event that exceeds MaxEventSize. Memory
	// that was taken is returned at the next Reset.
	Budget *Budget
	// Format selects how the body is split into events. The default is
	// EventStream. Format must not change within a body.
	Format Format
	// Comment, if not nil, is called with the text of each comment line, which is valid during the call. Many servers
	// send comments to keep a connection open while a request waits. Comment must not call methods of the decoder.
	Comment func(text []byte)

	r      io.Reader
	waiter Waiter // r, if r is a Waiter
	err    error  // the error that ended the stream; every later Next returns it

	// buf[pos:end] holds the bytes that were read and not consumed yet.
	buf      []byte
	pos, end int
	// lf, lfTo and crTo say which line ends in buf[pos:end] are known, so that no byte is searched twice
	// even if the reads split a line. lf is the index of the next LF, or less than pos if it is not known.
	// There is no other LF before lfTo. There is no CR, and in lineMode no NUL, before crTo.
	lf, lfTo, crTo int

	atStart     bool // nothing was consumed yet, so that a byte order mark may come
	formatKnown bool // lineMode has been decided
	lineMode    bool // each line is an event
	skipLF      bool // the last line ended with CR, so that a following LF is ignored

	// The current event. While its only data line is in buf, the line is not copied: inBuf is true, and the
	// line is buf[from:to].
	hasData  bool
	inBuf    bool
	from, to int
	data     []byte
	typ      []byte
	id       []byte // the last event ID buffer of the standard
	lastID   []byte // the last event ID of the standard

	retry    time.Duration
	hasRetry bool

	ignored []byte // see Ignored
	lost    bool   // ignored is something that the stream lost

	taken int64 // bytes taken from Budget
}

// A Waiter is a body that can wait until bytes can be read. A decoder of such a body needs no buffer while
// it waits for the next event.
type Waiter interface {
	// Await waits until a Read would return without waiting. It may return earlier. If there is an error,
	// the next Read returns it.
	Await()
}

// NewDecoder returns a decoder of the body r, which may be a [Waiter]. The decoder buffers its reads, and
// may read bytes beyond the events that it returns.
func NewDecoder(r io.Reader) *Decoder {
	d := new(Decoder)
	d.Reset(r)
	return d
}

// Reset prepares d for the body r. It keeps MaxEventSize, Budget, Format and Comment. It also keeps the buffers,
// unless they count against the Budget.
func (d *Decoder) Reset(r io.Reader) {
	d.giveBack()
	waiter, _ := r.(Waiter)
	*d = Decoder{
		MaxEventSize: d.MaxEventSize,
		Budget:       d.Budget,
		Format:       d.Format,
		Comment:      d.Comment,
		r:            r,
		waiter:       waiter,
		buf:          d.buf,
		atStart:      true,
		data:         d.data[:0],
		typ:          spare(d.typ),
		id:           spare(d.id),
		lastID:       spare(d.lastID),
		ignored:      d.ignored[:0],
	}
}

// spare returns the memory of a word of the last body for a word of the next, unless the memory is large.
func spare(b []byte) []byte {
	if cap(b) > minBuffer {
		return nil
	}
	return b[:0]
}

// Retry returns the last reconnection time that the stream requested. It returns false if the stream
// requested none.
func (d *Decoder) Retry() (time.Duration, bool) { return d.retry, d.hasRetry }

// Buffered returns the number of bytes that were read but do not belong to an event yet.
func (d *Decoder) Buffered() int {
	n := d.end - d.pos
	if n > 0 && d.skipLF && d.buf[d.pos] == '\n' { // an LF that belongs to the end of the last line
		n--
	}
	return n
}

// LostError is the line that [Decoder.Ignored] returns for an event of the type error without data.
const LostError = "event: error"

// Ignored returns the beginning of the last line of the stream, so far, that Next ignored because the name of its
// field is unknown, or [LostError] if no data came with such an event. The line is empty if there is no such line;
// lines of white space do not count. The result lost says that the line is LostError, or has a brace or a quotation mark,
// as the documents of inference servers have: a document that lost its "data:" is such a line. A lost line is not
// replaced by another one that is not. The bytes are valid until the next call of Next or Reset.
func (d *Decoder) Ignored() (line []byte, lost bool) { return d.ignored, d.lost }

// maxIgnored is the maximum number of bytes that are kept of a line that was ignored.
const maxIgnored = 256

// ignore keeps the beginning of a line that is ignored.
func (d *Decoder) ignore(line []byte) {
	lost := bytes.ContainsAny(line, `{}"`)
	if lost || !d.lost && len(bytes.TrimSpace(line)) > 0 {
		d.ignored, d.lost = append(d.ignored[:0], line[:min(len(line), maxIgnored)]...), lost
	}
}

// Next returns the next event. It returns one of these errors:
//
//   - [io.EOF] after the last event, if the body ended without an error.
//   - An error that wraps [ErrTooLarge], if an event exceeds MaxEventSize or what is left of Budget.
//   - The error of the reader, if a read failed. The incomplete event is dropped.
//
// After an error, every call returns the same error. Next never returns an event together with an error.
func (d *Decoder) Next() (e Event, err error) {
	// The bytes of the last event are no longer in use.
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
				d.pos, d.end, d.lf, d.lfTo, d.crTo = 0, 0, -1, 0, 0
				d.letGo()
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
			if d.lineMode {
				break
			}
			continue
		}
		d.lastID = append(d.lastID[:0], d.id...)
		if d.hasData {
			break
		}
		d.dropType()
	}
	e.Type, e.Data, e.ID = message, d.data, d.lastID
	if d.inBuf {
		e.Data = d.buf[d.from:d.to]
	}
	if len(d.typ) > 0 {
		e.Type = d.typ
		d.typ = d.typ[:0] // e.Type stays valid, because only the next call of Next overwrites its bytes
	}
	return e, nil
}

// finish processes the end of a body: a last line without a line end, and a last event without a blank
// line. It reports whether there is such an event.
func (d *Decoder) finish() bool {
	if from := d.pos; from < d.end {
		d.pos = d.end
		if err := d.field(from, d.end); err != nil {
			d.err = err
			return false
		}
	}
	d.lastID = append(d.lastID[:0], d.id...)
	if !d.hasData {
		d.dropType()
	}
	return d.hasData
}

// dropType drops the type of an event without data.
func (d *Decoder) dropType() {
	if string(d.typ) == LostError[len("event: "):] {
		d.ignored, d.lost = append(d.ignored[:0], LostError...), true
	}
	d.typ = d.typ[:0]
}

// field processes the line buf[from:to], which is not blank.
func (d *Decoder) field(from, to int) error {
	if to-from > d.limit() {
		return d.tooLarge()
	}
	if d.lineMode {
		d.hasData, d.inBuf = true, true
		d.from, d.to = from, to
		return nil
	}
	line := d.buf[from:to]
	if len(line) > 5 && string(line[:5]) == "data:" && !d.hasData {
		// The usual case: leave the value in buf.
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
	case "":
		if d.Comment != nil {
			d.Comment(value)
		}
	case "data":
		return d.addData(value)
	case "error":
		if d.Format == Auto {
			d.typ = append(d.typ[:0], "error"...)
			return d.addData(value)
		}
		d.ignore(line)
	case "event":
		d.typ = append(d.typ[:0], value...)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			d.id = append(d.id[:0], value...)
		}
	case "retry":
		d.setRetry(value)
	default:
		d.ignore(line)
	}
	return nil
}

// addData adds a line to the data of the event.
func (d *Decoder) addData(value []byte) error {
	d.detach()
	size := len(d.data) + len(value)
	if d.hasData {
		size++
	}
	if size > d.limit() {
		return d.tooLarge()
	}
	if !d.reserve(size) {
		return d.err
	}
	if d.hasData {
		d.data = append(d.data, '\n')
	}
	d.hasData = true
	d.data = append(d.data, value...)
	return nil
}

// detach copies a data line that is in buf to data, because buf will change.
func (d *Decoder) detach() {
	if d.inBuf {
		d.inBuf = false
		d.data = d.data[:0]
		if d.reserve(d.to - d.from) {
			d.data = append(d.data, d.buf[d.from:d.to]...)
		}
	}
}

// setRetry sets the reconnection time in milliseconds. It ignores a value that is
// not all ASCII digits.
func (d *Decoder) setRetry(value []byte) {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	var ms int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return
		}
		ms = min(ms*10+int64(c-'0'), most/16) // larger than any useful value, but too small to overflow
	}
	if len(value) > 0 {
		d.retry, d.hasRetry = time.Duration(ms)*time.Millisecond, true
	}
}
