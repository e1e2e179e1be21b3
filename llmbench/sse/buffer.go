package sse

import (
	"bytes"
	"fmt"
	"io"
)

// minBuffer is the first size of a decoder's buffer in bytes.
const minBuffer = 2 << 10

// maxRead bounds one Read, so that a decoder whose buffer once grew for a huge
// event does not go on reading in huge pieces.
const maxRead = 64 << 10

// maxEmptyReads is how many Reads in a row may return neither bytes nor an
// error before the decoder gives up with [io.ErrNoProgress], as bufio does.
const maxEmptyReads = 100

// bom is the UTF-8 byte order mark.
const bom = "\xef\xbb\xbf"

// line consumes the next line and returns where in buf it lies, without its
// end; or false when buf holds no complete line.
func (d *Decoder) line() (from, to int, ok bool) {
	if !d.open && (d.start && !d.dropBOM() || !d.findFormat()) {
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
		if d.lines {
			if i := bytes.IndexByte(d.buf[at:to], 0); i >= 0 {
				found = true
				to = at + i
			}
		}
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
		grown := make([]byte, nextSize(len(d.buf), d.limit()))
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

// reserve makes room for size bytes in data.
func (d *Decoder) reserve(size int) {
	room := cap(d.data)
	if size <= room {
		return
	}
	for room < size {
		room = nextSize(room, d.limit())
	}
	d.data = append(make([]byte, 0, room), d.data...)
}

// nextSize is the size in bytes of the buffer after a full one of size bytes. It
// grows in steps so large that all of them together take less than twice the
// limit, collected or not.
func nextSize(size, limit int) int {
	if next := max(minBuffer, 4*size); next <= limit/2 {
		return next
	}
	return limit + minBuffer
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
