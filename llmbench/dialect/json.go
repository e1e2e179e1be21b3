package dialect

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A walker goes through JSON text once, member by member, and keeps the first
// error: after it, everything reads as nothing. It allocates nothing once its
// buffers have grown. Servers repeat names and cut characters in two, so both
// are allowed; anything else that is not JSON is an error.
type walker struct {
	dec  *jsontext.Decoder
	src  bytes.Buffer
	name []byte // room for names with escapes in them
	err  error

	// Of the strings in the text that text returned: how many there were, and
	// where the last one lies, without its quotes.
	texts    int
	from, to int
}

var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func newWalker() *walker {
	w := new(walker)
	w.dec = jsontext.NewDecoder(&w.src, lenient...)
	return w
}

// objects calls member for each member of each object in text, which is one
// JSON document or several in a row, and end after each document; a null among
// them is an object without members. It returns the first error.
func (w *walker) objects(text []byte, member func(name []byte), end func()) error {
	w.src = *bytes.NewBuffer(text)
	w.dec.Reset(&w.src, lenient...)
	w.err, w.texts = nil, 0
	for w.object(member) {
		end()
	}
	if w.err == io.EOF { // between documents: the end of the text
		return nil
	}
	return w.err
}

// object calls member with the name of each member of the object that comes
// next; member must consume the value, and name holds until it does. A null is
// an object without members.
func (w *walker) object(member func(name []byte)) bool {
	if !w.begin('{') {
		return w.err == nil
	}
	for w.err == nil && w.dec.PeekKind() != '}' {
		name := w.raw()
		if w.err != nil {
			return false
		}
		if bytes.IndexByte(name, '\\') < 0 {
			member(name[1 : len(name)-1])
			continue
		}
		w.name = unquote(w.name[:0], name)
		member(w.name)
	}
	return w.end()
}

// array calls element before each element of the array that comes next;
// element must consume it. A null is an empty array.
func (w *walker) array(element func()) {
	if !w.begin('[') {
		return
	}
	for w.err == nil && w.dec.PeekKind() != ']' {
		element()
	}
	w.end()
}

// begin consumes the opening token and reports true, or a null and reports
// false; anything else is an error.
func (w *walker) begin(open jsontext.Kind) bool {
	if w.err != nil {
		return false
	}
	tok, err := w.dec.ReadToken()
	switch {
	case err != nil:
		w.err = err
	case tok.Kind() == open:
		return true
	case tok.Kind() != 'n':
		w.err = fmt.Errorf("%s where %s should be", tok.Kind(), open)
	}
	return false
}

// end consumes the closing token.
func (w *walker) end() bool {
	if w.err != nil {
		return false
	}
	if _, err := w.dec.ReadToken(); err != nil {
		w.err = err
		return false
	}
	return true
}

// raw consumes the value that comes next and returns it as it stands, nil after
// an error. It holds until the next call.
func (w *walker) raw() []byte {
	if w.err != nil {
		return nil
	}
	v, err := w.dec.ReadValue()
	if err != nil {
		w.err = err
	}
	return v
}

// text appends the string that comes next to dst. Any other value is no text.
func (w *walker) text(dst []byte) []byte {
	if v := w.raw(); len(v) > 2 && v[0] == '"' {
		w.texts++
		w.to = int(w.dec.InputOffset()) - 1
		w.from = w.to - (len(v) - 2)
		return unquote(dst, v)
	}
	return dst
}

// anything appends what comes next to dst: what a string says, or any other
// value but null as it stands.
func (w *walker) anything(dst []byte) []byte {
	v := w.raw()
	switch {
	case len(v) == 0 || string(v) == "null":
		return dst
	case v[0] == '"':
		return unquote(dst, v)
	}
	return append(dst, v...)
}

// is consumes the value that comes next and reports whether it is the literal.
func (w *walker) is(literal string) bool { return string(w.raw()) == literal }

// kind returns what kind of value comes next: its first byte, or 0 for none.
func (w *walker) kind() jsontext.Kind {
	if w.err != nil {
		return 0
	}
	return w.dec.PeekKind()
}

// length consumes the value that comes next: how many elements the array has,
// 0 for null, 1 for any other value.
func (w *walker) length() int {
	n := 0
	switch w.kind() {
	case '[':
		w.array(func() { n++; w.raw() })
	case 'n':
		w.raw()
	default:
		w.raw()
		n = 1
	}
	return n
}

// duration returns the number that comes next, in units: 0 for anything but a
// number of 0 to 100 years.
func (w *walker) duration(unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(string(w.raw()), 64)
	f *= float64(unit)
	if most := float64(100 * 365 * 24 * time.Hour); err != nil || !(f >= 0 && f < most) {
		return 0
	}
	return time.Duration(math.Round(f))
}

// count returns the number that comes next as a count: 0 for anything but a
// number in [0, 2^31).
func (w *walker) count() int {
	v := w.raw()
	if len(v) == 1 && '0' <= v[0] && v[0] <= '9' { // as an index is, in every event
		return int(v[0] - '0')
	}
	// Some servers write 12 as 1.2e1, so a float is read.
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f >= 1<<31 {
		return 0
	}
	return int(f)
}

// unquote appends what a JSON string says to dst. The string is known to be one,
// but for invalid UTF-8, which is left as it is or becomes U+FFFD.
func unquote(dst, quoted []byte) []byte {
	if body := quoted[1 : len(quoted)-1]; bytes.IndexByte(body, '\\') < 0 {
		return append(dst, body...)
	}
	dst, _ = jsontext.AppendUnquote(dst, quoted)
	return dst
}
