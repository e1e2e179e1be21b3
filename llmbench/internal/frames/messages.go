package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// ErrCorrupt is wrapped by errors about bytes that cannot be a part of the format.
var ErrCorrupt = errors.New("stream is corrupt")

// maxEvent is the maximum size of an event in bytes. It is the maximum of the AWS SDKs for a message.
const maxEvent = 16 << 20

const (
	preludeSize = 12 // total length, length of the headers, checksum of both
	sumSize     = 4  // checksum of the message
)

// messages finds the messages of an event stream.
type messages struct {
	length int // of the current message, 0 if its prelude has not been read
}

// scan looks at the bytes that were read and belong to no message yet. It returns the event of the first message, and
// the size of the message. If that is 0, the message is incomplete, and the next call gets the same bytes and more.
func (m *messages) scan(b []byte) (e sse.Event, n int, err error) {
	if m.length == 0 {
		if len(b) < preludeSize {
			return e, 0, nil
		}
		if m.length, err = messageLength(b); err != nil {
			return e, 0, err
		}
	}
	if len(b) < m.length {
		return e, 0, nil
	}
	n, m.length = m.length, 0
	e, err = message(b[:n])
	return e, n, err
}

// messageLength checks a prelude, and returns the length of its message.
func messageLength(b []byte) (int, error) {
	length, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if want, got := binary.BigEndian.Uint32(b[8:]), crc32.ChecksumIEEE(b[:8]); want != got {
		return 0, fmt.Errorf("%w: a message's prelude states the checksum %08x, but has %08x", ErrCorrupt, want, got)
	}
	switch {
	case length > maxEvent:
		return 0, fmt.Errorf("%w: a message of %d bytes: want at most %d", sse.ErrTooLarge, length, maxEvent)
	case length < preludeSize+sumSize || headers > length-preludeSize-sumSize:
		return 0, fmt.Errorf("%w: a message of %d bytes with headers of %d bytes", ErrCorrupt, length, headers)
	}
	return int(length), nil
}

// message reads a message, whose prelude has been checked.
func message(b []byte) (e sse.Event, err error) {
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if want, got := binary.BigEndian.Uint32(sum), crc32.ChecksumIEEE(body); want != got {
		return e, fmt.Errorf("%w: a message states the checksum %08x, but has %08x", ErrCorrupt, want, got)
	}
	headers := body[preludeSize:][:binary.BigEndian.Uint32(b[4:])]
	e.Data = body[preludeSize+len(headers):]
	for len(headers) > 0 {
		name, kind, value, rest, ok := header(headers)
		if !ok {
			return e, fmt.Errorf("%w: the headers of a message end within a header", ErrCorrupt)
		}
		headers = rest
		if kind != stringHeader {
			continue
		}
		switch string(name) {
		case ":message-type":
			e.ID = value
		case ":event-type", ":exception-type", ":error-code":
			e.Type = value
		case ":error-message":
			if len(e.Data) == 0 {
				e.Data = value
			}
		}
	}
	return e, nil
}

// stringHeader is the type of a header whose value is a string.
const stringHeader = 7

// valueSizes has the size of a header's value in bytes, by the type of the header: true, false, byte, short,
// integer, long, bytes, string, timestamp and UUID. A size of -1 says that two bytes with the size are before
// the value.
var valueSizes = [...]int{0, 0, 1, 2, 4, 8, -1, stringHeader: -1, 8, 16}

// header splits headers after the first header. ok is false if it is incomplete or has an unknown type.
func header(b []byte) (name []byte, kind byte, value, rest []byte, ok bool) {
	size := int(b[0])
	if b = b[1:]; len(b) < size+1 || int(b[size]) >= len(valueSizes) {
		return nil, 0, nil, nil, false
	}
	name, kind, b = b[:size], b[size], b[size+1:]
	if size = valueSizes[kind]; size < 0 {
		if len(b) < 2 {
			return nil, 0, nil, nil, false
		}
		size = int(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) < size {
		return nil, 0, nil, nil, false
	}
	return name, kind, b[:size], b[size:], true
}
