// Package jsonwalk reads JSON text in one pass, member by member, without
// allocating.
//
// The caller passes a text to a [Walker], and a function that is called with the name of each member. That
// function consumes the member's value with one method of the Walker: as raw bytes, a string, a count, a
// duration, a nested object or an array. The Walker skips a value that the function does not consume, and
// decodes only what the caller asks for.
//
// The package is lenient in two points, because inference servers are: an object may have two members of
// the same name, and a string may contain invalid UTF-8, for example because a server cut a character in
// two. Anything else that is not JSON is an error. The package does not decode into Go values, does not
// write JSON, and reads only text that is in memory.
package jsonwalk

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// A Walker reads JSON text once, from its start to its end. It keeps the first
// error; after an error every method returns a zero value. A Walker allocates
// nothing once its buffers have grown. It is not safe for concurrent use.
type Walker struct {
	dec  *jsontext.Decoder
	src  bytes.Buffer
	name []byte // buffer for names that contain escapes
	used bool   // the value of the current member or element has been consumed
	err  error

	texts    int // how many strings Text has returned from this text
	from, to int // where the last of these strings lies, without its quotes
}

var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// New returns a Walker. [Walker.Objects] gives it a text to read.
func New() *Walker {
	w := new(Walker)
	w.dec = jsontext.NewDecoder(&w.src, lenient...)
	return w
}

// Objects reads text, which is one JSON object or several in a row. It calls
// member for each member of each object, as [Walker.Object] does, and end after
// each object. A null counts as an object without members. Objects returns the
// first error. It does not modify text.
func (w *Walker) Objects(text []byte, member func(name []byte), end func()) error {
	w.src = *bytes.NewBuffer(text)
	w.dec.Reset(&w.src, lenient...)
	w.err, w.texts = nil, 0
	for w.Object(member); w.err == nil; w.Object(member) {
		end()
	}
	if w.err == io.EOF { // EOF between two objects is the end of the text
		return nil
	}
	return w.err
}

// Object reads the next value, which must be an object or null. It calls member with the name of each
// member, and member may then consume the value. The name is valid until the value is consumed. A null
// counts as an object without members. Object does not keep member, so a method value as the argument does not
// allocate.
func (w *Walker) Object(member func(name []byte)) {
	if !w.open('{') {
		return
	}
	for w.err == nil && w.dec.PeekKind() != '}' {
		name := w.Raw()
		if w.err != nil {
			return
		}
		w.used = false
		if bytes.IndexByte(name, '\\') < 0 {
			member(name[1 : len(name)-1])
		} else {
			w.name = Unquote(w.name[:0], name)
			member(w.name)
		}
		w.skipUnused()
	}
	w.close()
}

// skipUnused skips the current value if it has not been consumed.
func (w *Walker) skipUnused() {
	if !w.used {
		w.Raw()
	}
}

// Array reads the next value, which must be an array or null. It calls element before each element, and
// element may then consume the array element. A null counts as an empty array.
func (w *Walker) Array(element func()) {
	if !w.open('[') {
		return
	}
	for w.err == nil && w.dec.PeekKind() != ']' {
		w.used = false
		element()
		w.skipUnused()
	}
	w.close()
}

// open consumes the opening bracket of the given kind and returns true, or
// consumes a null and returns false. Anything else is an error.
func (w *Walker) open(bracket jsontext.Kind) bool {
	w.used = true
	if w.err != nil {
		return false
	}
	tok, err := w.dec.ReadToken()
	switch {
	case err != nil:
		w.err = err
	case tok.Kind() == bracket:
		return true
	case tok.Kind() != 'n':
		w.err = fmt.Errorf("%s where %s should be", tok.Kind(), bracket)
	}
	return false
}

// close consumes the closing bracket, unless there was an error.
func (w *Walker) close() {
	if w.err == nil {
		_, w.err = w.dec.ReadToken()
	}
}
