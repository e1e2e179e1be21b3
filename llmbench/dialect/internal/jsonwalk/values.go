package jsonwalk

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Raw consumes the next value and returns its JSON text, or nil after an error.
// The text is valid until the next call of a method.
func (w *Walker) Raw() []byte {
	w.used = true
	if w.err != nil {
		return nil
	}
	v, err := w.dec.ReadValue()
	if err != nil {
		w.err = err
	}
	return v
}

// Text consumes the next value. If the value is a string, Text appends the unquoted string to dst. For any
// other value it appends nothing.
func (w *Walker) Text(dst []byte) []byte {
	if v := w.Raw(); len(v) > 2 && v[0] == '"' {
		w.texts++
		w.to = int(w.dec.InputOffset()) - 1
		w.from = w.to - (len(v) - 2)
		return Unquote(dst, v)
	}
	return dst
}

// OnlyText returns the position of the only string that Text has returned since [Walker.Objects] was
// called: in the text that Objects received, text[from:to] is this string in quoted form, but without its
// quotes. OnlyText returns zeros unless there was exactly one such string.
func (w *Walker) OnlyText() (from, to int) {
	if w.texts != 1 {
		return 0, 0
	}
	return w.from, w.to
}

// TextOrRaw consumes the next value. It appends a string to dst unquoted, appends nothing for null, and
// appends any other value as JSON text.
func (w *Walker) TextOrRaw(dst []byte) []byte {
	v := w.Raw()
	switch {
	case len(v) == 0 || string(v) == "null":
		return dst
	case v[0] == '"':
		return Unquote(dst, v)
	}
	return append(dst, v...)
}

// Is consumes the next value and reports whether its JSON text is literal.
func (w *Walker) Is(literal string) bool { return string(w.Raw()) == literal }

// Offset returns how many bytes of the text have been read.
func (w *Walker) Offset() int { return int(w.dec.InputOffset()) }

// Filled consumes the next value and reports whether it may hold text: whether it has, at any depth, a string that
// is not empty, or an array of numbers, which may be tokens.
func (w *Walker) Filled() (filled bool) {
	switch w.Kind() {
	case '"':
		return len(w.Raw()) > 2
	case '{':
		w.Object(func([]byte) { filled = w.Filled() || filled })
	case '[':
		w.Array(func() { filled = w.Kind() == '0' || w.Filled() || filled })
	default:
		w.Raw()
	}
	return filled
}

// Kind returns the kind of the next value, which is the value's first byte. It does not consume the value.
// It returns 0 after an error.
func (w *Walker) Kind() jsontext.Kind {
	if w.err != nil {
		return 0
	}
	return w.dec.PeekKind()
}

// Length consumes the next value. It returns the number of elements of an
// array, 0 for null and 1 for any other value.
func (w *Walker) Length() int {
	n := 1
	switch w.Kind() {
	case '[':
		n = 0
		w.Array(func() { n++ })
		return n
	case 'n':
		n = 0
	}
	w.Raw()
	return n
}

// Duration consumes the next value, a number of the given unit, and returns it as a duration. It returns 0
// for a value that is not a number, is negative, or is 100 years or more.
func (w *Walker) Duration(unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(string(w.Raw()), 64)
	f *= float64(unit)
	if most := float64(100 * 365 * 24 * time.Hour); err != nil || !(f >= 0 && f < most) {
		return 0
	}
	return time.Duration(math.Round(f))
}

// Count consumes the next value and returns it as an integer, rounded down. It
// returns 0 for a value that is not a number in [0, 2^31).
func (w *Walker) Count() int {
	v := w.Raw()
	if len(v) == 1 && '0' <= v[0] && v[0] <= '9' { // fast path for the index of a choice, which is in every event
		return int(v[0] - '0')
	}
	f, err := strconv.ParseFloat(string(v), 64) // some servers write 12 as 1.2e1
	if err != nil || f < 0 || f >= 1<<31 {
		return 0
	}
	return int(f)
}

// Unquote appends the unquoted form of quoted to dst. quoted must be a JSON string, but may contain invalid
// UTF-8. If quoted has no escapes, Unquote copies it unchanged; if it has some, Unquote replaces invalid
// bytes by U+FFFD.
func Unquote(dst, quoted []byte) []byte {
	if body := quoted[1 : len(quoted)-1]; bytes.IndexByte(body, '\\') < 0 {
		return append(dst, body...)
	}
	dst, _ = jsontext.AppendUnquote(dst, quoted)
	return dst
}
