package document

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON reads the values in a JSON text, one after another. NaN and Infinity are read as numbers, because
// Python writes them (https://docs.python.org/3/library/json.html#infinite-and-nan-number-values). JSON
// calls each for each value. It returns the error of each, or an error that says where the text is wrong or
// ends.
func JSON(r io.Reader, each func(*Node) error) error {
	d := &decoder{Decoder: jsontext.NewDecoder(newPlain(r), jsontext.AllowInvalidUTF8(true))}
	for {
		d.nodes = 0
		n, err := d.value(0, 0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return d.explain(err)
		}
		if err := each(n); err != nil {
			return err
		}
	}
}

// A decoder reads JSON tokens into Nodes.
type decoder struct {
	*jsontext.Decoder
	nodes int // number of values read, including nested ones
}

// errTooMany says that a document has more than maxNodes values.
var errTooMany = fmt.Errorf("more than %d values: want the summary of a run", maxNodes)

// explain returns an error that includes the place at which the text is wrong.
func (d *decoder) explain(err error) error {
	place := cmp.Or(string(d.StackPointer()), "the start")
	switch syntax, wrong := errors.AsType[*jsontext.SyntacticError](err); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the text ends early, after %.200s: was the file cut off?", place)
	case wrong:
		return fmt.Errorf("no JSON after %.200s, at byte %d: %w", place, d.InputOffset(), syntax.Err)
	}
	return fmt.Errorf("after %.200s: %w", place, err)
}

// value reads the next value. depth is the number of enclosing objects and arrays, and arrays the number of
// enclosing arrays.
func (d *decoder) value(depth, arrays int) (*Node, error) {
	if d.nodes++; d.nodes > maxNodes {
		return nil, errTooMany
	}
	if k := d.PeekKind(); depth >= maxDepth && (k == '{' || k == '[') {
		return &Node{}, d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		return &Node{kind: text, text: cut(token.String())}, nil
	case '0':
		return parsed(token.String()), nil
	case 't', 'f':
		return &Node{kind: boolean, truth: token.Kind() == 't'}, nil
	case '{':
		return d.object(depth, arrays)
	case '[':
		return d.array(depth, arrays)
	}
	return &Node{}, nil
}

// parsed returns a number. If s is too large for a float64, the number is infinite.
func parsed(s string) *Node {
	v, ok := ParseNumber(s)
	if !ok {
		v = math.NaN()
	}
	return &Node{kind: number, number: v}
}

// object reads the rest of an object.
func (d *decoder) object(depth, arrays int) (*Node, error) {
	n := &Node{kind: object}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := cut(token.String())
		v, err := d.value(depth+1, arrays)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if err := n.set(name, v); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return n, err
}

// array reads the rest of an array.
func (d *decoder) array(depth, arrays int) (*Node, error) {
	n := &Node{kind: array}
	keep := keepIn(arrays)
	for d.PeekKind() != ']' {
		if k := d.PeekKind(); len(n.items) >= keep && k != '"' && k != 'n' && k != 'f' {
			n.length++
			n.filled++
			if err := d.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if len(n.items) >= keep {
			d.nodes-- // the element is counted, but not kept
		}
		v, err := d.value(depth+1, arrays+1)
		if err != nil {
			return nil, err
		}
		n.add(v, keep)
	}
	_, err := d.ReadToken()
	return n, err
}

// plain replaces Python's NaN and Infinity by valid JSON: the string "NaN", and a number that is too large
// for a float64. It returns an error for a string of more than maxString bytes.
type plain struct {
	r        *bufio.Reader
	rest     string // to be returned before more is read from r
	quoted   bool   // whether the current position is inside a string
	escaped  bool   // whether the previous byte was a backslash
	inString int    // bytes of the current string so far
}

func newPlain(r io.Reader) *plain {
	p := &plain{r: bufio.NewReaderSize(r, 64<<10)}
	if bom, _ := p.r.Peek(3); string(bom) == "\uFEFF" {
		p.r.Discard(3)
	}
	return p
}

// words are the texts that Python writes for floats that are not finite, and the JSON that replaces them.
var words = [...]struct{ python, json string }{{"NaN", `"NaN"`}, {"Infinity", "1e999"}}

// Read implements io.Reader.
func (p *plain) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if p.rest != "" {
			m := copy(b[n:], p.rest)
			n, p.rest = n+m, p.rest[m:]
			continue
		}
		c, err := p.r.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		if err := p.step(c); err != nil {
			return n, err
		}
		if p.rest == "" {
			b[n] = c
			n++
		}
		if n > 0 && p.r.Buffered() == 0 && p.rest == "" {
			return n, nil // return what is available, rather than wait for more
		}
	}
	return n, nil
}

// step processes one byte. If a word begins with this byte, step sets rest to the replacement of the word.
func (p *plain) step(c byte) error {
	if p.quoted {
		p.inString++
		switch {
		case p.inString > maxString:
			return fmt.Errorf("a string of more than %d bytes: want the summary of a run", maxString)
		case p.escaped:
			p.escaped = false
		case c == '\\':
			p.escaped = true
		case c == '"':
			p.quoted = false
		}
		return nil
	}
	if c == '"' {
		p.quoted, p.inString = true, 0
	}
	for _, w := range words {
		if c != w.python[0] {
			continue
		}
		if next, _ := p.r.Peek(len(w.python) - 1); string(next) == w.python[1:] {
			p.r.Discard(len(next))
			p.rest = w.json
		}
	}
	return nil
}
