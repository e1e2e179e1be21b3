package gatewaytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A message is an answer as it was on the wire: what the upstream wrote, or what the client read.
type message struct {
	status int
	header http.Header
	body   []byte
	err    error // why the body broke off; nil if it ended cleanly
	stream bool  // the request asked for a stream
}

// An event is one event of a stream. The meaning is its type and its data in a canonical spelling; two events are equal
// if their meanings are.
type event struct{ meaning, data string }

// A reading is what a message says to a client of its API.
type reading struct {
	message
	events                      []event
	text, reasoning, call, name string // text, reasoning, arguments and names of tool calls, of all events
	finish                      string
	usage                       dialect.Usage
	fault                       string // the error object in the answer, or ""
	wrong                       error  // the answer is not complete, or not of the API
}

// read returns what a message says in the API of d.
func read(d dialect.Dialect, m message) reading {
	r := reading{message: m}
	p := d.NewParser()
	p.Reset()
	var delta dialect.Delta
	if !m.stream || m.status != http.StatusOK {
		err := p.Body(m.body, &delta)
		r.add(&delta)
		if delta.UnknownFinish && err == nil {
			err = fmt.Errorf("%w: no finish reason that the API documents", dialect.ErrTruncated)
		}
		r.wrong = cmp.Or(m.err, err)
		return r
	}
	decoder := decoderFrom(d, m, bytes.NewReader(m.body))
	for {
		e, err := decoder.Next()
		if err != nil {
			if err != io.EOF {
				r.wrong = cmp.Or(r.wrong, m.err, err)
			}
			break
		}
		r.events = append(r.events, eventOf(e))
		if err := p.Event(e, &delta); err != nil {
			r.wrong = cmp.Or(r.wrong, err)
			continue
		}
		r.add(&delta)
	}
	r.wrong = cmp.Or(r.wrong, m.err, p.End())
	return r
}

// decoderFrom returns a decoder of the events of a stream, whose body is apart from the message.
func decoderFrom(d dialect.Dialect, m message, body io.Reader) interface{ Next() (sse.Event, error) } {
	if f, ok := d.(dialect.Framer); ok {
		return f.NewDecoder(body)
	}
	s := sse.NewDecoder(body)
	s.Format = sse.FormatOf(mediaType(m.header))
	return s
}

// mediaType returns the media type in a header, in lower case and without parameters.
func mediaType(h http.Header) string {
	name, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // "" for a missing or malformed type
	return name
}

// add adds the content of an event.
func (r *reading) add(d *dialect.Delta) {
	r.text += string(d.Text)
	r.reasoning += string(d.Reasoning)
	r.call += string(d.ToolCall)
	if len(d.ToolName) > 0 {
		r.name = strings.TrimSpace(r.name + " " + string(d.ToolName))
	}
	r.finish = cmp.Or(d.Finish, r.finish)
	r.fault = cmp.Or(r.fault, d.Fault)
	if u := d.Usage; u != (dialect.Usage{}) {
		r.usage = dialect.Usage{
			PromptTokens: cmp.Or(u.PromptTokens, r.usage.PromptTokens), OutputTokens: cmp.Or(u.OutputTokens, r.usage.OutputTokens),
			CachedTokens: cmp.Or(u.CachedTokens, r.usage.CachedTokens), CachedStated: u.CachedStated || r.usage.CachedStated,
			ReasoningTokens: cmp.Or(u.ReasoningTokens, r.usage.ReasoningTokens),
		}
	}
}

// failure says why a client of the API takes the answer for a failure, or returns "" if it takes the answer for a success.
func (r *reading) failure() string {
	switch {
	case r.status == 0:
		return fmt.Sprintf("no answer: %v", r.err)
	case r.status != http.StatusOK:
		return fmt.Sprintf("status %d", r.status)
	case r.fault != "":
		return fmt.Sprintf("an error object: %.100q", r.fault)
	case r.wrong != nil:
		return r.wrong.Error()
	}
	return ""
}

// generated returns the number of bytes of generated text, of all kinds.
func (r *reading) generated() int { return len(r.text) + len(r.reasoning) + len(r.call) }

// outcome describes the answer in a few words.
func (r *reading) outcome() string {
	if why := r.failure(); why != "" {
		return "a failure (" + why + ")"
	}
	return fmt.Sprintf("a complete answer with %d bytes of generated text and finish reason %q", r.generated(), r.finish)
}

// eventOf returns an event that does not depend on the decoder.
func eventOf(e sse.Event) event {
	data := string(e.Data)
	meaning := string(e.Type) + "\n" + canonical(data)
	if e.Unterminated {
		meaning += "\n(the blank line is missing)"
	}
	return event{meaning, data}
}

// canonical returns a spelling of a JSON document that does not depend on white space, the order of members, escapes in
// strings and the form of numbers. It returns text that is not JSON unchanged.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return text
	}
	out, err := json.Marshal(plain(v))
	if err != nil {
		return text
	}
	return string(out)
}

// maxNumber is the length of a number above which its digits are compared, and not its value.
const maxNumber = 40

// shortExponent matches numbers whose exponent has at most two digits.
var shortExponent = regexp.MustCompile(`[eE][-+]?[0-9]{1,2}$`)

// canonicalNumber matches a number in a canonical document.
var canonicalNumber = regexp.MustCompile(`"\\u0000([^"]*)"`)

// plain returns a JSON value whose numbers have one form: 1, 1.0 and 1e0 are equal. It is a string that begins with a NUL.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if len(v) > maxNumber || strings.ContainsAny(v.String(), "eE") && !shortExponent.MatchString(v.String()) {
			return v // its digits are compared
		}
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return "\x00" + r.RatString()
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(v[name])
		}
	}
	return v
}
