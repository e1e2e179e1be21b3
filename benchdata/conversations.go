package benchdata

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A conversation has the parts of a record that are used.
type conversation struct {
	first, second string // texts of the first two turns
	turns         int    // number of turns
}

// A conversationFormat describes the records of a file of conversations.
type conversationFormat struct {
	array bool // the file must be one JSON array
	// turns are the possible names of the member that has the turns. texts are the possible
	// names of a turn's member that has the text. If a record has several of the names, the
	// first name in the list counts.
	turns, texts []string
	// optional says that a record without turns is skipped. Otherwise such a record is an
	// error.
	optional bool
	// images says that a record with an image is an error.
	images bool
}

// conversations reads a file of records like
//
//	{"id": "…", "conversations": [{"from": "human", "value": "…"}, …]}
//
// one at a time. Like vLLM and SGLang, it ignores other members and all turns after the
// second.
func (f conversationFormat) conversations(s *source) iter.Seq2[conversation, error] {
	return values(s, f.array, f.readConversation)
}

// readConversation reads one record.
func (f conversationFormat) readConversation(d *jsontext.Decoder) (conversation, error) {
	var c conversation
	best := len(f.turns)
	err := members(d, "the record", func(name string) (err error) {
		if f.images && name == "image" && d.PeekKind() == '"' {
			return errors.New(`member "image" cannot be sent: want only text`)
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
		err = fmt.Errorf("there is no %q: want an array of turns", f.turns[0])
	}
	return c, err
}

// readTurns reads the turns of one record. An invalid turn is an error only if the record
// has at least two turns: records with fewer turns are skipped anyway.
func (f conversationFormat) readTurns(d *jsontext.Decoder, name string) (conversation, error) {
	var c conversation
	if err := begin(d, '[', strconv.Quote(name)); err != nil {
		return c, err
	}
	var invalid error
	for ; d.PeekKind() != ']'; c.turns++ {
		if c.turns >= 2 || d.PeekKind() != '{' {
			if c.turns < 2 && invalid == nil && d.PeekKind() != 0 {
				invalid = fmt.Errorf("turn %d is a JSON %s: want an object", c.turns, kindName(d.PeekKind()))
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
		if problem != nil && invalid == nil {
			invalid = fmt.Errorf("turn %d: %w", c.turns, problem)
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
		return c, invalid
	}
	return c, nil
}

// readTurn reads the text of one turn. If the turn has no valid text, problem says why. err is
// not nil if reading cannot continue.
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
				problem = fmt.Errorf("%q is a JSON %s: want a string", name, kindName(kind))
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
		problem = fmt.Errorf("there is no %q: want a string", f.texts[0])
	}
	return text, problem, err
}
