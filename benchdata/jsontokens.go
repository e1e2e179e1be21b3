package benchdata

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// members reads the next value, which must be an object. It calls f for each member, after it
// has read the member's name; f must read the value. what is the object's name in errors.
func members(d *jsontext.Decoder, what string, f func(name string) error) error {
	if err := begin(d, '{', what); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken() // the }
	return err
}

// begin reads the next token, which must be want: [ or {. what is the value's name in errors.
func begin(d *jsontext.Decoder, want jsontext.Kind, what string) error {
	switch kind := d.PeekKind(); kind {
	case want, 0, ']', '}': // ReadToken returns an error for the last three
	default:
		return fmt.Errorf("%s is a JSON %s: want an %s", what, kindName(kind), kindName(want))
	}
	_, err := d.ReadToken()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// kindName returns the name of a kind of JSON value.
func kindName(k jsontext.Kind) string {
	switch k {
	case '[':
		return "array"
	case '{':
		return "object"
	case '"':
		return "string"
	case '0':
		return "number"
	case 'n':
		return "null"
	}
	return "boolean"
}
