package frames

import (
	"fmt"
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// NewArray returns a decoder of a body that is a JSON array of objects. Each object is the data of an event
// of the type "message". If the body is a single object instead, the object is an event, because it may be an
// error, and an error that wraps [ErrCorrupt] follows. The decoder finds the ends of objects, but does not
// check their JSON.
func NewArray(r io.Reader) *Decoder {
	d := &Decoder{s: new(array)}
	d.Reset(r)
	return d
}

// An array finds the elements of a JSON array.
type array struct {
	state  arrayState
	marked int  // number of bytes of a byte order mark before the array
	single bool // the body is an object and not an array
	// In an element: the number of bytes that were looked at, the number of open brackets, and whether the
	// next byte is within a string or follows a backslash there.
	at, depth       int
	quoted, escaped bool
}

type arrayState int

const (
	beforeArray arrayState = iota
	beforeElement
	inElement
	afterArray
)

var messageType = []byte("message")

var errObject = fmt.Errorf("%w: a JSON object where an array should be", ErrCorrupt)

// bom is the UTF-8 byte order mark.
const bom = "\xef\xbb\xbf"

func (a *array) reset() { *a = array{} }

func (a *array) whole() bool { return a.state == afterArray || a.state == beforeArray }

func (a *array) scan(b []byte) (skip int, e sse.Event, n int, err error) {
	if a.single && a.state == afterArray {
		return 0, e, 0, errObject
	}
	if a.state != inElement {
		if skip, err = a.between(b); err != nil || a.state != inElement {
			return skip, e, 0, err
		}
		b = b[skip:]
	}
	for a.at < len(b) && (a.depth > 0 || a.at == 0) {
		a.look(b[a.at])
		a.at++
	}
	if a.depth > 0 || a.at == 0 {
		return skip, e, 0, nil
	}
	e = sse.Event{Type: messageType, Data: b[:a.at]}
	n = a.at
	a.state, a.at = beforeElement, 0
	if a.single {
		a.state = afterArray
	}
	// What follows the element belongs to no event.
	more, _ := a.between(b[n:]) // an error is found again by the next call
	return skip, e, n + more, nil
}

// between consumes the bytes before the next element, and returns their number. It sets the state.
func (a *array) between(b []byte) (n int, err error) {
	for n < len(b) && a.state != inElement {
		switch c := b[n]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n', c == ',' && a.state == beforeElement:
		case a.state == beforeArray && a.marked < len(bom) && c == bom[a.marked]:
			a.marked++
		case c == '[' && a.state == beforeArray:
			a.state = beforeElement
		case c == ']' && a.state == beforeElement:
			a.state = afterArray
		case c == '{' && (a.state == beforeElement || a.state == beforeArray):
			a.single = a.state == beforeArray
			a.state = inElement
			return n, nil
		default:
			return n, fmt.Errorf("%w: byte %q where the elements of a JSON array should be", ErrCorrupt, c)
		}
		n++
	}
	return n, nil
}

// look counts the brackets up to the next byte.
func (a *array) look(c byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case a.quoted:
		a.escaped = c == '\\'
		a.quoted = c != '"'
	case c == '"':
		a.quoted = true
	case c == '{' || c == '[':
		a.depth++
	case c == '}' || c == ']':
		a.depth--
	}
}
