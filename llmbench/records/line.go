package records

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/fields"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// members holds the members of a JSON object that are read, by name.
type members map[string]*member

// A member describes one JSON member and where its value is stored.
type member struct {
	name  string
	to    any  // a pointer to a field, or the members of a nested object; nil for a string that is not kept
	count bool // the value must be from 0 to math.MaxInt32
	line  int  // number of the last line in which the member was present and not null
}

// A line holds one request as a file has it. Members whose names end in _ns are nanoseconds: instants since
// the start of the pass, or durations. A line is a visitor of its own sample, to find out where to store
// each member.
type line struct {
	sample     sample.Sample // without ID, Gaps, Lags, Err and Answer
	gaps, lags gaps
	failure    string // the text of the sample's Err
	fault      error  // error because a count is out of range

	number  int
	members members
	object  members           // members of the nested object that is visited; else nil
	words   map[string]string // strings that many lines share, so that each is in memory once
	text    []byte            // buffer that is reused
}

func newLine() *line {
	l := &line{members: members{}, words: map[string]string{}}
	fields.Visit(&l.sample, l)
	return l
}

// add adds a member to the nested object that is visited, or else to the line. Records do not contain
// fields without a name.
func (l *line) add(name string, m member) {
	m.name = name
	switch {
	case name == "":
	case l.object != nil:
		l.object[name] = &m
	default:
		l.members[name] = &m
	}
}

func (l *line) Text(name string, _ *string, _ fields.When)            { l.add(name, member{}) }
func (l *line) Word(name string, p *string, _ fields.When)            { l.add(name, member{to: p}) }
func (l *line) Flag(name string, p *bool, _ fields.When)              { l.add(name, member{to: p}) }
func (l *line) Duration(name string, p *time.Duration, _ fields.When) { l.add(name, member{to: p}) }
func (l *line) Wall(name string, p *time.Time, _ fields.When)         { l.add(name, member{to: p}) }
func (l *line) Error(name string, _ *error, _ fields.When)            { l.add(name, member{to: &l.failure}) }
func (l *line) Counts(name string, p *[]int32, _ fields.When)         { l.add(name, member{to: p}) }
func (l *line) Merged(name string, p *[]sample.Merged, _ fields.When) { l.add(name, member{to: p}) }

// ToolCalls does nothing, because no metric is computed from an answer.
func (l *line) ToolCalls(string, string, *[]sample.ToolCall, fields.When) {}

// Fields does nothing, because no metric is computed from a header.
func (l *line) Fields(string, *[]sample.Field, fields.When) {}

// Int adds a member that is a count. Numbers that the server measured are not checked: they may have any
// value.
func (l *line) Int(name string, p *int, _ fields.When) {
	l.add(name, member{to: p, count: l.object == nil || l.members["server"] == nil})
}

func (l *line) Durations(name string, p *[]time.Duration, _ fields.When) {
	to := &l.gaps
	if p == &l.sample.Lags {
		to = &l.lags
	}
	l.add(name, member{to: to})
}

// Open adds a nested object. It skips the answer, which is not read.
func (l *line) Open(name string, _ bool) bool {
	if name == "" || name == "answer" {
		return false
	}
	object := members{}
	l.add(name, member{to: object})
	l.object = object
	return true
}

func (l *line) Close() { l.object = nil }

// has reports whether the member is present in the line and not null.
func (l *line) has(name string) bool { return l.members[name].line == l.number }

// read parses the line with the given number.
func (l *line) read(text []byte, number int) error {
	l.sample, l.gaps, l.lags, l.failure, l.fault, l.number = sample.Sample{}, gaps{}, gaps{}, "", nil, number
	return json.Unmarshal(text, l)
}

// UnmarshalJSONFrom parses a line.
func (l *line) UnmarshalJSONFrom(d *jsontext.Decoder) error { return l.readObject(d, l.members) }

// readObject parses an object, and stores the values of known members.
func (l *line) readObject(d *jsontext.Decoder, known members) error {
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		return fmt.Errorf("a %v: want an object", kind)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		l.text, _ = jsontext.AppendUnquote(l.text[:0], name) // the decoder has checked the name
		if m := known[string(l.text)]; m == nil {
			err = d.SkipValue()
		} else {
			err = l.readMember(d, m)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// readMember parses the value of a member. A null counts as no member.
func (l *line) readMember(d *jsontext.Decoder, m *member) error {
	if object, ok := m.to.(members); ok && d.PeekKind() != 'n' {
		return l.readObject(d, object)
	}
	value, err := d.ReadValue()
	if err != nil || value.Kind() == 'n' {
		return err
	}
	m.line = l.number
	if to, ok := m.to.(*gaps); ok {
		return to.read(value)
	}
	if err := l.set(m, value); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

// set stores the value of a member. The value is not null.
func (l *line) set(m *member, value jsontext.Value) (err error) {
	var n int64
	switch to := m.to.(type) {
	case *int:
		n, err = integer(value)
		if *to = int(n); m.count && (n < 0 || n > math.MaxInt32) {
			l.fault = fmt.Errorf("count %d: want 0 to %d", n, math.MaxInt32)
		}
	case *time.Duration:
		n, err = integer(value)
		*to = time.Duration(n)
	case *time.Time:
		n, err = integer(value)
		*to = time.Unix(0, n)
	case *bool:
		if *to = value.Kind() == 't'; !*to && value.Kind() != 'f' {
			err = fmt.Errorf("%.100s: want true or false", value)
		}
	case *string:
		*to, err = l.word(value)
	case nil:
		_, err = l.unquote(value)
	case *[]sample.Merged:
		*to, err = readMerged(value)
	default:
		err = json.Unmarshal(value, m.to)
	}
	return err
}

func integer(value jsontext.Value) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.100s: want a whole number of 64 bits", value)
	}
	return n, nil
}

// unquote returns the text of a JSON string. The result is valid until the next call.
func (l *line) unquote(value jsontext.Value) ([]byte, error) {
	if value.Kind() != '"' {
		return nil, fmt.Errorf("%.100s: want a string", value)
	}
	var err error
	l.text, err = jsontext.AppendUnquote(l.text[:0], value)
	return l.text, err
}

// word returns the text of a JSON string. Equal texts share memory as long as there are few different ones.
func (l *line) word(value jsontext.Value) (string, error) {
	text, err := l.unquote(value)
	if err != nil || len(text) == 0 {
		return "", err
	}
	w, ok := l.words[string(text)]
	if !ok {
		w = string(text)
		if len(l.words) < 1<<12 {
			l.words[w] = w
		}
	}
	return w, nil
}

// readMerged parses groups of deltas. A group has three numbers: the index of the first delta, the number
// of deltas, and Since.
func readMerged(value jsontext.Value) (all []sample.Merged, err error) {
	var groups [][3]int64
	err = json.Unmarshal(value, &groups)
	for _, g := range groups {
		all = append(all, sample.Merged{Delta: int(g[0]), Deltas: int(g[1]), Since: time.Duration(g[2])})
	}
	return all, err
}
