package benchdata

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// A conversation is one record of a ShareGPT file, as much of it as is used.
type conversation struct {
	first, second string // what the first two turns say
	turns         int
}

// conversations reads a ShareGPT file: a JSON array of objects
//
//	{"id": "…", "conversations": [{"from": "human", "value": "…"}, …]}
//
// one record at a time. Other members are passed over, and so are turns after
// the second, which vLLM does not look at either. It ends with the first
// error, which names the record, counted from 0. As Python does, it accepts
// a name twice (the last counts) and half of a surrogate pair.
func conversations(r io.Reader) iter.Seq2[conversation, error] {
	return func(yield func(conversation, error) bool) {
		d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err := begin(d, '[', "the file"); err != nil {
			yield(conversation{}, err)
			return
		}
		for i := 0; d.PeekKind() != ']'; i++ {
			c, err := readConversation(d)
			if err != nil {
				yield(conversation{}, fmt.Errorf("record %d: %w", i, err))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if _, err := d.ReadToken(); err != nil { // the ]
			yield(conversation{}, err)
			return
		}
		if _, err := d.ReadToken(); err != io.EOF {
			yield(conversation{}, errors.New("the file goes on after its array, must be one JSON array"))
		}
	}
}

// readConversation reads one record.
func readConversation(d *jsontext.Decoder) (conversation, error) {
	var c conversation
	found := false
	err := members(d, "the record", func(name string) (err error) {
		if name != "conversations" {
			return d.SkipValue()
		}
		found = true
		c, err = readTurns(d)
		return err
	})
	if err == nil && !found {
		err = errors.New(`there is no "conversations", must be an array of turns`)
	}
	return c, err
}

// readTurns reads the turns of one record. What is wrong with a turn counts
// only if there are two, since a record of fewer is left out.
func readTurns(d *jsontext.Decoder) (conversation, error) {
	var c conversation
	if err := begin(d, '[', `"conversations"`); err != nil {
		return c, err
	}
	var wrong error
	for ; d.PeekKind() != ']'; c.turns++ {
		if c.turns >= 2 || d.PeekKind() != '{' {
			if c.turns < 2 && wrong == nil && d.PeekKind() != 0 {
				wrong = fmt.Errorf("turn %d is a JSON %s, must be an object", c.turns, kindName(d.PeekKind()))
			}
			if err := d.SkipValue(); err != nil {
				return c, err
			}
			continue
		}
		text, problem, err := readTurn(d)
		if err != nil {
			return c, err
		}
		if problem != nil && wrong == nil {
			wrong = fmt.Errorf("turn %d: %w", c.turns, problem)
		}
		if c.turns == 0 {
			c.first = text
		} else {
			c.second = text
		}
	}
	if _, err := d.ReadToken(); err != nil { // the ]
		return c, err
	}
	if c.turns >= 2 {
		return c, wrong
	}
	return c, nil
}

// readTurn reads what one turn says. A problem is that it says nothing; an
// error is that reading cannot go on.
func readTurn(d *jsontext.Decoder) (text string, problem, err error) {
	problem = errors.New(`there is no "value", must be a string`)
	err = members(d, "the turn", func(name string) error {
		if name != "value" {
			return d.SkipValue()
		}
		if kind := d.PeekKind(); kind != '"' {
			if kind != 0 {
				problem = fmt.Errorf(`"value" is a JSON %s, must be a string`, kindName(kind))
			}
			return d.SkipValue()
		}
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		text, problem = token.String(), nil
		return nil
	})
	return text, problem, err
}

// members calls f after the name of each member of the object that comes
// next; f reads the member's value.
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

// begin reads the [ or { that must come next.
func begin(d *jsontext.Decoder, want jsontext.Kind, what string) error {
	switch kind := d.PeekKind(); kind {
	case want, 0, ']', '}': // the last three are for ReadToken to tell
	default:
		return fmt.Errorf("%s is a JSON %s, must be an %s", what, kindName(kind), kindName(want))
	}
	_, err := d.ReadToken()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

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
