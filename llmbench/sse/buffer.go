package sse

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// minBuffer is the first size of a decoder's buffer in bytes.
const minBuffer = 2 << 10

// maxRead is the maximum size of one Read in bytes. Without it, reads would become as large as the buffer
// after the buffer has grown for one huge event.
const maxRead = 64 << 10

// maxEmptyReads is the number of successive Reads with neither bytes nor an error
// after which the decoder returns [io.ErrNoProgress], as package bufio does.
const maxEmptyReads = 100

// bom is the UTF-8 byte order mark.
const bom = "\xef\xbb\xbf"

// line consumes the next line and returns its position in buf, without the line end. It returns false if
// buf has no complete line.
func (d *Decoder) line() (from, to int, ok bool) {
	if !d.formatKnown && (d.atStart && !d.dropBOM() || !d.detectFormat()) {
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
	if d.lf < from { // the next LF is not known: search the new bytes
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
		if d.lineMode {
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

// dropBOM drops a leading byte order mark. It returns false if it needs more bytes
// to decide whether there is one.
func (d *Decoder) dropBOM() bool {
	head := d.buf[d.pos:min(d.end, d.pos+len(bom))]
	if len(head) < len(bom) && string(head) == bom[:len(head)] && d.err == nil {
		return false
	}
	d.atStart = false
	if string(head) == bom {
		d.pos += len(bom)
	}
	return true
}

// fill reads once into buf. It sets err if the read fails, or if the line in buf is
// larger than the limit.
func (d *Decoder) fill() {
	if d.detach(); d.err != nil {
		return
	}
	if d.pos > 0 { // buf holds part of a line: move it to the front
		copy(d.buf, d.buf[d.pos:d.end])
		d.end -= d.pos
		d.pos = 0
	}
	if d.end == 0 {
		d.await()
	}
	d.lf, d.lfTo, d.crTo = -1, d.end, d.end // line found no line end in buf
	if d.end > d.limit() {
		d.err = d.tooLarge()
		return
	}
	switch {
	case len(d.buf) == 0:
		d.buf = spareBuffers.Get().(*[minBuffer]byte)[:]
	case d.end == len(d.buf): // one unfinished line fills buf
		size := nextSize(len(d.buf), d.limit())
		if !d.take(len(d.buf), size) {
			return
		}
		grown := make([]byte, size)
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

// spareBuffers holds buffers that are not in use.
var spareBuffers = sync.Pool{New: func() any { return new([minBuffer]byte) }}

// await waits until bytes can be read, if the body supports that. buf must be empty. The decoder has no
// buffer while it waits.
func (d *Decoder) await() {
	if d.waiter == nil {
		return
	}
	d.letGo()
	d.waiter.Await()
}

// letGo releases buf, which must be empty, for use by other decoders.
func (d *Decoder) letGo() {
	if d.waiter != nil && len(d.buf) == minBuffer {
		spareBuffers.Put((*[minBuffer]byte)(d.buf))
		d.buf = nil
	}
}

// reserve makes room for size bytes in data. It sets err and returns false if the budget is too small.
func (d *Decoder) reserve(size int) bool {
	room := cap(d.data)
	if size <= room {
		return true
	}
	for room < size {
		room = nextSize(room, d.limit())
	}
	if !d.take(cap(d.data), room) {
		return false
	}
	d.data = append(make([]byte, 0, room), d.data...)
	return true
}

// nextSize returns the size in bytes of the buffer that replaces a full buffer of the given size. The steps
// are so large that all buffers of one event together take less than twice the limit, even if none of them
// has been garbage-collected.
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

// tooLarge discards buf, so that the rest of an event that is too large is not taken for another event.
func (d *Decoder) tooLarge() error {
	d.pos = d.end
	return fmt.Errorf("sse: %w: more than %d bytes", ErrTooLarge, d.limit())
}
