package benchdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// values reads the records of a file one at a time. The file must be a JSON array if array is
// true, otherwise a JSON array or JSON Lines. read reads one record. The sequence ends with the
// first error. The error names the line and the record; the first record is 0.
func values[T any](s *source, array bool, read func(d *jsontext.Decoder) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		d := decoder(s)
		s.line = func() int { return lineNow(d, s) }
		fail := func(err error) {
			var none T
			yield(none, lineOf(d, s, err))
		}
		if array || d.PeekKind() == '[' {
			if err := begin(d, '[', "the file"); err != nil {
				fail(err)
				return
			}
			array = true
		}
		for i := 0; ; i++ {
			s.record(len(d.UnreadBuffer()))
			kind := d.PeekKind()
			if array && kind == ']' {
				if err := end(d); err != nil {
					fail(err)
				}
				return
			}
			if !array && kind == 0 {
				if _, err := d.ReadToken(); err != io.EOF {
					fail(fmt.Errorf("record %d: %w", i, err))
				}
				return
			}
			v, err := read(d)
			if content, ok := errors.AsType[*contentError](err); ok {
				var none T
				yield(none, &lineError{Line: s.line(), Err: fmt.Errorf("record %d: %w", i, content.err)})
				return
			}
			if err != nil {
				fail(fmt.Errorf("record %d: %w", i, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// A contentError is an error in the contents of a record that was read completely. It is
// reported at the last line of the record.
type contentError struct{ err error }

func (e *contentError) Error() string { return e.err.Error() }

// decoder returns a decoder that accepts the same JSON as Python. If an object has a name
// twice, the last one counts. A string may have half of a surrogate pair.
func decoder(s *source) *jsontext.Decoder {
	return jsontext.NewDecoder(s, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// lineNow returns the line, from 1, of the next byte that d will decode. It takes time in
// proportion to the bytes that d has read ahead.
func lineNow(d *jsontext.Decoder, s *source) int {
	return 1 + s.newlines - bytes.Count(d.UnreadBuffer(), []byte{'\n'})
}

// lineOf adds a line to an error: the line of the next byte to decode, after white space and
// commas.
func lineOf(d *jsontext.Decoder, s *source, err error) error {
	if long, ok := errors.AsType[errTooLong](err); ok {
		err = long // drops the message that the decoder adds
	}
	rest := d.UnreadBuffer()
	space := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,"))]
	return &lineError{Line: lineNow(d, s) + bytes.Count(space, []byte{'\n'}), Err: err}
}

// end reads the ] that ends the file's array. Anything after it is an error.
func end(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("the file must end after its JSON array, but has more data")
	}
	return nil
}

// items reads records that are objects. parse gets only the members whose names are in want.
// If a record has a name twice, the last member counts.
func items[T any](s *source, want []string, parse func(o item) (T, error)) iter.Seq2[T, error] {
	return values(s, false, func(d *jsontext.Decoder) (T, error) {
		o := item{}
		err := members(d, "the record", func(name string) error {
			if !slices.Contains(want, name) {
				return d.SkipValue()
			}
			v, err := d.ReadValue()
			o[name] = v.Clone()
			return err
		})
		if err != nil {
			var none T
			return none, err
		}
		v, err := parse(o)
		if err != nil {
			err = &contentError{err}
		}
		return v, err
	})
}

// An item has some members of a JSON object.
type item map[string]jsontext.Value

// has reports whether o has the named member and its value is not null.
func (o item) has(name string) bool {
	v, ok := o[name]
	return ok && v.Kind() != 'n'
}

// value returns the named member. Its kind must be want.
func (o item) value(name string, want jsontext.Kind) (jsontext.Value, error) {
	v, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("there is no %q: want a %s", name, kindName(want))
	}
	if v.Kind() != want {
		return nil, fmt.Errorf("%q is a JSON %s: want a %s", name, kindName(v.Kind()), kindName(want))
	}
	return v, nil
}

// text returns the named member, which must be a string.
func (o item) text(name string) (string, error) {
	v, err := o.value(name, '"')
	if err != nil {
		return "", err
	}
	var text string
	if err := json.Unmarshal(v, &text, jsontext.AllowInvalidUTF8(true)); err != nil {
		return "", fmt.Errorf("%q: %w", name, err)
	}
	return text, nil
}

// texts returns the named member, which must be an array of strings.
func (o item) texts(name string) (texts []string, err error) {
	v, err := o.value(name, '[')
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(v, &texts, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("%q: want an array of strings: %w", name, err)
	}
	return texts, nil
}

// number returns the named member, which must be a number.
func (o item) number(name string) (float64, error) {
	v, err := o.value(name, '0')
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is %.40s, too large for a number", name, v)
	}
	return x, nil
}

// tokens returns the named member, which must be a number of tokens.
func (o item) tokens(name string) (int, error) {
	x, err := o.number(name)
	if err != nil {
		return 0, err
	}
	if x != math.Trunc(x) || x < 0 || x > mostTokens {
		return 0, fmt.Errorf("%q is %v: want a whole number of tokens from 0 to %d", name, x, mostTokens)
	}
	return int(x), nil
}

// mostTokens is the largest length, in tokens, that a data set allows for a prompt or an
// answer. A prompt of random words with this length has about 800 MB.
const mostTokens = 1 << 27
