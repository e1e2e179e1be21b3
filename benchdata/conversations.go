package benchdata

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A conversation is one record of a file of conversations, as much of it as is used.
type conversation struct {
	first, second string // what the first two turns say
	turns         int
}

// A conversationFormat says where conversations and their turns are.
type conversationFormat struct {
	array bool // the file must be one JSON array
	// turns are the names that the member with the turns may have, texts
	// those of the member with what a turn says: the first that is there.
	turns, texts []string
	// optional leaves out a record without turns, instead of refusing it.
	optional bool
	// images refuses a record with an image.
	images bool
}

// conversations reads a file of records like
//
//	{"id": "…", "conversations": [{"from": "human", "value": "…"}, …]}
//
// one at a time. Other members are passed over, and so are turns after the
// second, which no tool looks at either.
func (f conversationFormat) conversations(s *source) iter.Seq2[conversation, error] {
	return values(s, f.array, f.readConversation)
}

// readConversation reads one record.
func (f conversationFormat) readConversation(d *jsontext.Decoder) (conversation, error) {
	var c conversation
	best := len(f.turns)
	err := members(d, "the record", func(name string) (err error) {
		if f.images && name == "image" && d.PeekKind() == '"' {
			return errors.New(`there is an "image", and only text can be sent`)
		}
		rank := slices.Index(f.turns, name)
		if rank < 0 || rank > best {
			return d.SkipValue()
		}
		best = rank
		c, err = f.readTurns(d, name)
		return err
	})
	if err == nil && best == len(f.turns) && !f.optional {
		err = fmt.Errorf("there is no %q, must be an array of turns", f.turns[0])
	}
	return c, err
}

// readTurns reads the turns of one record. What is wrong with a turn counts
// only if there are two, since a record of fewer is left out.
func (f conversationFormat) readTurns(d *jsontext.Decoder, name string) (conversation, error) {
	var c conversation
	if err := begin(d, '[', strconv.Quote(name)); err != nil {
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
		text, problem, err := f.readTurn(d)
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
func (f conversationFormat) readTurn(d *jsontext.Decoder) (text string, problem, err error) {
	best := len(f.texts)
	err = members(d, "the turn", func(name string) error {
		rank := slices.Index(f.texts, name)
		if rank < 0 || rank > best {
			return d.SkipValue()
		}
		best = rank
		if kind := d.PeekKind(); kind != '"' {
			if kind != 0 {
				problem = fmt.Errorf("%q is a JSON %s, must be a string", name, kindName(kind))
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
	if best == len(f.texts) {
		problem = fmt.Errorf("there is no %q, must be a string", f.texts[0])
	}
	return text, problem, err
}
