package benchdata

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A recording is a recorded session: a graph of turns.
type recording struct {
	id    string
	at    time.Duration // arrival; negative if the file has none
	block int           // number of tokens in a named block of a prompt
	own   bool          // names of blocks mean nothing in other sessions
	turns []recordedTurn
	left  map[string]int // how often what was left out
	again int            // number of sessions of the same name before it
}

// leave counts what was left out.
func (r *recording) leave(what string) {
	if r.left == nil {
		r.left = map[string]int{}
	}
	r.left[what]++
}

// A recordedTurn is a request of a session. Its prompt is named blocks, or a conversation that grows.
type recordedTurn struct {
	agent  string        // "" for the main agent
	after  []int         // the turns that it waits for, which are before it in the list; none means that it begins with the session
	delay  time.Duration // from the end of the last of these turns to the send
	every  time.Duration // from the send of the first of these turns to the send, instead of delay; 0 if unknown
	output int           // tokens; 0 if unknown

	hashed bool     // the prompt is blocks
	blocks []uint64 // names of the first blocks of the prompt
	input  int      // tokens of the whole prompt, if it is hashed; otherwise of the turn's own message, if there are no messages

	whole    bool               // messages are the whole conversation
	messages []llmbench.Message // the turn's own messages
	reply    string             // the recorded answer; "" if unknown
	thought  string             // what the model generated before it, and which is not sent again
	usual    int                // length of the answer if nothing else says it; 0 if there is none
}

// add adds a turn and returns its number.
func (r *recording) add(t recordedTurn) int {
	r.turns = append(r.turns, t)
	return len(r.turns) - 1
}

// maxSession is the largest size of a record of a file of sessions in bytes. A session of five hundred requests with 4,000 blocks each
// has 14 MB.
const maxSession = 256 << 20

// A sessionFormat reads files of one format.
type sessionFormat struct {
	name   string
	wants  string                                // the members by which the format is recognised, for errors
	is     func(first extra) bool                // whether the first record of a file has them
	reader func(s *sessionReader) sessionRecords // returns the reader of one file
}

// A sessionRecords reads the records of a file. Sessions that consist of one record are returned by add, and others by end.
type sessionRecords struct {
	add func(v jsontext.Value) ([]recording, error)
	end func() ([]recording, error) // nil if there are no others
}

// sessionFormats lists every format. The first one that recognises a file reads it.
var sessionFormats = []sessionFormat{
	wekaFormat, mooncakeFormat, dagFormat, multiTurnFormat, endpointsFormat, exgenticFormat, otelFormat, graphFormat, agenticFormat, chatsFormat,
	aibrixFormat, tracelabFormat, trieFormat, plainFormat,
}

// A sessionReader reads a file of sessions.
type sessionReader struct {
	want    int // number of sessions that are needed; 0 means all
	format  string
	records sessionRecords
	unknown map[string]int // how often each member comes that the format does not know, and what was left out
}

// read yields the sessions of a file, one at a time. Records that belong to sessions after the first want ones may be left out.
func (r *sessionReader) read(s *source) iter.Seq2[recording, error] {
	r.unknown = map[string]int{}
	return func(yield func(recording, error) bool) {
		s.limit = maxSession
		line := func() int { return s.line() }
		for all, err := range values(s, false, r.record) {
			if err != nil {
				yield(recording{}, err)
				return
			}
			for _, one := range all {
				if err := r.check(&one); err != nil {
					yield(recording{}, &lineError{Line: line(), Err: err})
					return
				}
				if !yield(one, nil) {
					return
				}
			}
		}
		if r.records.end == nil {
			return
		}
		rest, err := r.records.end()
		for _, one := range rest {
			if err == nil {
				err = r.check(&one)
			}
			if err != nil || !yield(one, nil) {
				break
			}
		}
		if err != nil {
			yield(recording{}, err)
		}
	}
}

// record reads one record. The first one determines the format.
func (r *sessionReader) record(d *jsontext.Decoder) ([]recording, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if r.records.add == nil {
		if err := r.recognise(v); err != nil {
			return nil, &contentError{err}
		}
	}
	all, err := r.records.add(v)
	if err != nil {
		err = &contentError{err}
	}
	return all, err
}

// recognise sets the format of a file by its first record.
func (r *sessionReader) recognise(v jsontext.Value) error {
	var first extra
	if v.Kind() != '{' {
		return fmt.Errorf("the record is a JSON %s: want an object", kindName(v.Kind()))
	}
	if err := decodeSession(v, &first); err != nil {
		return err
	}
	var known []string
	for _, f := range sessionFormats {
		if f.is(first) {
			r.format, r.records = f.name, f.reader(r)
			return nil
		}
		known = append(known, f.name+" ("+f.wants+")")
	}
	return fmt.Errorf("the first record has the members %q: want the members of one of the formats %s", slices.Sorted(maps.Keys(first)), strings.Join(known, ", "))
}

// check returns an error if a turn of a session cannot be sent. It counts what was left out of the session.
func (r *sessionReader) check(one *recording) error {
	for what, n := range one.left {
		r.unknown[what] += n
	}
	return one.check()
}

// mostTurns and mostWaits are the largest numbers of turns of a session, and of turns for which they wait together, where a short file can
// have many.
const (
	mostTurns = 1 << 20
	mostWaits = 1 << 22
)

// check returns an error if a turn of the session cannot be sent.
func (r *recording) check() error {
	waits := make([]int, len(r.turns)) // for each turn the last one that waits for it, from 1
	if len(r.turns) == 0 {
		return fmt.Errorf("session %q has no requests: want at least one", r.id)
	}
	for i, t := range r.turns {
		if len(t.messages) == 0 && t.input == 0 {
			return fmt.Errorf("session %q, turn %d has no input: want messages, or at least one token", r.id, i)
		}
		for _, before := range t.after {
			if before < 0 || before >= i || waits[before] == i+1 {
				return fmt.Errorf("session %q, turn %d waits for the turns %.99s: want different ones of those before it", r.id, i, fmt.Sprint(t.after))
			}
			waits[before] = i + 1
		}
		if most := (t.input + r.block - 1) / max(r.block, 1); t.hashed && len(t.blocks) > most {
			return fmt.Errorf("session %q, turn %d has %d names of blocks for %d tokens: want at most %d, one for each %d tokens", r.id, i, len(t.blocks), t.input, most, r.block)
		}
	}
	return nil
}

// extra has the members of an object that have no field of their own.
type extra map[string]jsontext.Value

// has reports whether there are all the members.
func (e extra) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, has := e[name]; return !has })
}

// within returns the members of the first element of an array of objects; nil if there is none.
func (e extra) within(name string) (first extra) {
	var all []extra
	if json.Unmarshal(e[name], &all, lenient) != nil || len(all) == 0 {
		return nil
	}
	return all[0]
}

// lenient accepts the same JSON as Python: if an object has a name twice, the last one counts, and a string may have half of a
// surrogate pair.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decodeSession decodes a value. Its error names the member, the value and what is allowed.
func decodeSession(v jsontext.Value, to any) error {
	err := json.Unmarshal(v, to, lenient)
	bad, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	at := strings.TrimPrefix(strings.ReplaceAll(string(bad.JSONPointer), "/", "."), ".")
	if value, ok := errors.AsType[valueError](bad.Err); ok {
		return fmt.Errorf("%q %w", at, value)
	}
	shown := fmt.Sprintf("a JSON %s", kindName(bad.JSONKind))
	if len(bad.JSONValue) > 0 {
		shown = fmt.Sprintf("%.40s", bad.JSONValue)
	}
	return fmt.Errorf("%q is %s: want %s", at, shown, wanted(bad.GoType))
}

// wanted describes the JSON value of a type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number, at least 0"
	case reflect.Slice:
		return "an array"
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Float64:
		return "a number"
	}
	return "an object"
}

// A tokenCount is a number of tokens in a file.
type tokenCount int

// UnmarshalJSONFrom reads the number. It accepts 12.0.
func (n *tokenCount) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	x, err := numberWithin(d, mostTokens, fmt.Sprintf("a whole number of tokens from 0 to %d", mostTokens))
	*n = tokenCount(x)
	return err
}

// A span is a time in a file, in the unit of the file.
type span float64

// UnmarshalJSONFrom reads the time.
func (s *span) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	x, err := numberWithin(d, mostSpan, fmt.Sprintf("a time from 0 to %g", float64(mostSpan)))
	*s = span(x)
	return err
}

// mostSpan is the largest time in a file, in the unit of the file.
const mostSpan = 1e12

// in returns the time in a unit, at most 31 years.
func (s span) in(unit time.Duration) time.Duration {
	return time.Duration(math.Round(min(float64(s)*float64(unit), mostSeconds*float64(time.Second))))
}

// numberWithin reads a number from 0 to most, which must be whole for numbers of tokens. The argument want describes it.
func numberWithin(d *jsontext.Decoder, most float64, want string) (float64, error) {
	v, err := d.ReadValue()
	if err != nil || v.Kind() == 'n' {
		return 0, err
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(x >= 0 && x <= most) || most == mostTokens && x != math.Trunc(x) {
		return 0, valueError{string(v), want}
	}
	return x, nil
}

// An ignored is a member that a format knows and that says nothing about what is sent.
type ignored struct{}

// UnmarshalJSONFrom skips the value.
func (*ignored) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// A valueError is a value that is not allowed, and what is.
type valueError struct{ got, want string }

func (e valueError) Error() string { return fmt.Sprintf("is %.40s: want %s", e.got, e.want) }

// tell counts the unknown members of a decoded value: those in fields of type extra. The argument path is where the value is.
func (r *sessionReader) tell(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.tell(path, v.Elem())
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Slice || k == reflect.Pointer {
			for i := range v.Len() {
				r.tell(path+"[]", v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if others, is := f.Interface().(extra); is {
				for name := range others {
					r.unknown[strings.TrimPrefix(path+"."+name, ".")]++
				}
				continue
			}
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			r.tell(path+"."+name, f)
		}
	}
}

// decoded returns a record as a T, and counts its unknown members.
func decoded[T any](r *sessionReader, v jsontext.Value) (T, error) {
	var one T
	if err := decodeSession(v, &one); err != nil {
		return one, err
	}
	r.tell("", reflect.ValueOf(&one).Elem())
	return one, nil
}

// each returns the reader of a format whose records are sessions.
func each[T any](session func(T) (recording, error)) func(*sessionReader) sessionRecords {
	return func(r *sessionReader) sessionRecords {
		return sessionRecords{add: func(v jsontext.Value) ([]recording, error) {
			one, err := decoded[T](r, v)
			if err != nil {
				return nil, err
			}
			session, err := session(one)
			return []recording{session}, err
		}}
	}
}

// grouped returns the reader of a format whose records are requests. The function key returns the session of a record; a record with
// "" is a session of its own. From the first named session on, sessions are kept until the file ends, in the order of their first records.
func grouped[T any](key func(T) string, session func(id string, rows []T) (recording, error)) func(*sessionReader) sessionRecords {
	type group struct {
		id   string
		rows []T
		one  *recording // of a record without a name
	}
	return func(r *sessionReader) sessionRecords {
		begun := 0
		var all []*group
		named := map[string]*group{}
		return sessionRecords{
			add: func(v jsontext.Value) ([]recording, error) {
				row, err := decoded[T](r, v)
				if err != nil {
					return nil, err
				}
				id := key(row)
				if g := named[id]; g != nil {
					g.rows = append(g.rows, row)
					return nil, nil
				}
				if r.want > 0 && begun == r.want {
					return nil, nil
				}
				begun++
				g := &group{id: id, rows: []T{row}}
				if id == "" {
					one, err := session("", g.rows)
					if err != nil || len(all) == 0 {
						return []recording{one}, err
					}
					g.one = &one
				} else {
					named[id] = g
				}
				all = append(all, g)
				return nil, nil
			},
			end: func() ([]recording, error) {
				var sessions []recording
				for _, g := range all {
					if g.one == nil {
						one, err := session(g.id, g.rows)
						if err != nil {
							return nil, fmt.Errorf("session %q: %w", g.id, err)
						}
						g.one = &one
					}
					sessions = append(sessions, *g.one)
				}
				return sessions, nil
			},
		}
	}
}

// A chatMessage is a message in the form of OpenAI's chat
// (https://platform.openai.com/docs/api-reference/chat/create).
type chatMessage struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content"`
	ToolCalls  jsontext.Value `json:"tool_calls"`
	ToolCallID string         `json:"tool_call_id"`
	Name       string         `json:"name"`
	Thoughts   *int           `json:"-"` // counts the parts with thoughts, which are left out; nil if they are an error
	Extra      extra          `json:",embed"`
}

// message returns the message as a text. Calls of tools become JSON after the text, and results of tools messages of the user,
// because only texts can be sent in a conversation.
func (m chatMessage) message() (llmbench.Message, error) {
	text, err := textOfContent(m.Content, m.Thoughts)
	if err != nil {
		return llmbench.Message{}, err
	}
	if len(m.ToolCalls) > 0 && m.ToolCalls.Kind() == '[' {
		text += string(m.ToolCalls)
	}
	switch role := m.Role; role {
	case "system", "user", "assistant":
		return llmbench.Message{Role: role, Content: text}, nil
	case "developer":
		return llmbench.Message{Role: "system", Content: text}, nil
	case "tool", "function":
		return llmbench.Message{Role: "user", Content: text}, nil
	default:
		return llmbench.Message{}, fmt.Errorf(`"role" is %.40q: want system, developer, user, assistant or tool`, role)
	}
}

// textOfContent returns the text of a content, which is a string, null or a list of parts. It leaves out parts with thoughts of a model and counts
// them, or returns an error if thoughts is nil.
func textOfContent(content jsontext.Value, thoughts *int) (string, error) {
	switch {
	case len(content) == 0 || content.Kind() == 'n':
		return "", nil
	case content.Kind() == '"':
		var text string
		return text, decodeSession(content, &text)
	case content.Kind() != '[':
		return "", fmt.Errorf(`"content" is a JSON %s: want a string or an array of parts`, kindName(content.Kind()))
	}
	var parts []struct {
		Type     string         `json:"type"`
		Text     string         `json:"text"`
		Content  jsontext.Value `json:"content"`
		Response jsontext.Value `json:"response"`
		Result   jsontext.Value `json:"result"` // the older name of response
		Extra    extra          `json:",embed"`
	}
	if err := decodeSession(content, &parts); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, p := range parts {
		if thoughts != nil && (p.Type == "thinking" || p.Type == "reasoning") {
			*thoughts++
			continue
		}
		switch p.Type {
		case "text", "input_text", "output_text":
			text.WriteString(p.Text)
			if p.Text == "" {
				inner, _ := textOfContent(p.Content, thoughts)
				text.WriteString(inner)
			}
		case "tool_call_response":
			text.Write(p.Response)
			text.Write(p.Result)
		case "tool_call":
			fmt.Fprintf(&text, "%s", mustJSON(p.Extra))
		default:
			return "", fmt.Errorf(`a part of a "content" has the type %.40q: want text alone`, p.Type)
		}
	}
	return text.String(), nil
}

// mustJSON returns members as JSON, with their names in order.
func mustJSON(e extra) []byte {
	text, err := json.Marshal(e, json.Deterministic(true), lenient)
	if err != nil {
		panic(err) // the members were valid JSON
	}
	return text
}

// texts returns messages as texts.
func texts(all []chatMessage) ([]llmbench.Message, error) {
	var messages []llmbench.Message
	for i, m := range all {
		one, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		messages = append(messages, one)
	}
	return messages, nil
}
