package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// answers is what the parsers of all dialects share: an event is JSON documents,
// or an end marker, or says that something went wrong; and an answer is whole
// only if the server said why it ended. The dialect's own parser embeds it and
// takes the members of the documents.
type answers struct {
	dialect string
	marker  string // what ends a stream, for errors
	w       *walker
	d       *Delta // where the event under way goes
	whole   bool   // the answer under way is not streamed

	// What the dialect's own parser does with a document: ready itself, take
	// a member and its value, see what they come to.
	clear  func()
	member func(name []byte)
	settle func()

	finished bool // the server said why it ended
	open     bool // the server said that the end is still to come
	done     bool // [DONE] was seen
	counted  int  // tokens that went into Delta.Tokens

	// About the document under way.
	start     mark   // where its text begins
	complains bool   // it calls itself an error
	message   []byte // its message, if it has one at the top

	// llama.cpp's timings in the document under way, as they stand, and what
	// reads them.
	stated    []byte
	timer     *walker
	onTimings func(name []byte)
}

// init makes p, with the dialect's own steps.
func (p *answers) init(dialect, marker string, clear func(), member func(name []byte), settle func()) {
	*p = answers{dialect: dialect, marker: marker, w: newWalker(), timer: newWalker(), clear: clear, member: member, settle: settle}
	p.onTimings = p.timings
}

func (p *answers) Reset() { p.finished, p.open, p.done, p.counted = false, false, false, 0 }

var (
	doneMarker   = []byte("[DONE]")
	messageEvent = []byte("message")
	pingEvent    = []byte("ping")
	errorEvent   = []byte("error")
)

func (p *answers) Event(e sse.Event, d *Delta) error {
	d.reset()
	p.whole = false
	payload := e.Data
	if n := len(payload); n == 0 || payload[n-1] != '}' { // not just a document
		payload = bytes.TrimSpace(payload)
		if bytes.HasSuffix(payload, doneMarker) { // alone, or glued to the last document
			d.Done, p.done = true, true
			payload = bytes.TrimSpace(payload[:len(payload)-len(doneMarker)])
		}
	}
	isError := bytes.Equal(e.Type, errorEvent)
	if len(payload) == 0 && !isError || bytes.Equal(e.Type, pingEvent) {
		return nil
	}
	err := p.read(payload, d)
	if isError { // the event's name says it, whatever its data is
		if d.Fault == "" {
			d.Fault = fault(payload)
		}
		if d.Fault == "" {
			d.Fault = "an error event without data"
		}
		return nil
	}
	if err != nil && e.Unterminated {
		return fmt.Errorf("%s: %w within an event: %q", p.dialect, ErrTruncated, excerpt(payload))
	}
	if err != nil {
		return fmt.Errorf("%s: event is not the JSON it should be: %w: %q", p.dialect, err, excerpt(payload))
	}
	return nil
}

func (p *answers) Body(body []byte, d *Delta) error {
	d.reset()
	p.whole = true
	if err := p.read(body, d); err != nil {
		return fmt.Errorf("%s: body is not the JSON it should be: %w: %q", p.dialect, err, excerpt(body))
	}
	return nil
}

func (p *answers) End() error {
	switch {
	case p.finished || p.done && !p.open:
		return nil
	case p.done:
		return fmt.Errorf("%s: %w: [DONE] without the finish reason that was left open", p.dialect, ErrTruncated)
	}
	return fmt.Errorf("%s: %w: neither a finish reason nor %s", p.dialect, ErrTruncated, p.marker)
}

// read walks text, which is one JSON document or, from some gateways, several.
// The text of a document that turns out to be broken is not used.
func (p *answers) read(text []byte, d *Delta) error {
	p.d = d
	p.begin()
	err := p.w.objects(text, p.member, p.end)
	if err != nil {
		d.rewind(p.start)
	}
	return err
}

// begin begins a document.
func (p *answers) begin() {
	p.start = p.d.mark()
	p.complains, p.message, p.stated = false, p.message[:0], p.stated[:0]
	p.clear()
}

// end ends a document and begins the next.
func (p *answers) end() {
	p.settle()
	if len(p.stated) > 0 && (p.finished || p.whole) {
		p.timer.objects(p.stated, p.onTimings, func() {}) // it was valid as a part of the document
	}
	if p.complains && p.d.Fault == "" {
		if p.d.Fault = excerpt(p.message); p.d.Fault == "" {
			p.d.Fault = "an error without a word"
		}
	}
	if p.d.since(p.start) {
		p.d.Chunks++
	}
	p.begin()
}

// other takes a member that the dialect has no use for: an error may stand at
// the top of any document, as "error", or as the document itself.
func (p *answers) other(name []byte) {
	switch string(name) {
	case "error":
		if text := fault(p.w.raw()); text != "" {
			p.d.Fault = text
		}
	case "object":
		p.complains = p.complains || p.w.is(`"error"`)
	case "message":
		p.message = p.w.text(p.message[:0])
	default:
		p.w.raw()
	}
}

// finish takes what comes next for a finish reason; null and "" mean that there
// will be one.
func (p *answers) finish() {
	if v := p.w.raw(); len(v) > 2 && v[0] == '"' {
		p.finishFor(reason(v))
	} else {
		p.open = true
	}
}

// finishFor takes a finish reason. A server that gave up says so in its place.
func (p *answers) finishFor(why string) {
	p.d.Finish = why
	p.finished = true
	if (why == "abort" || why == "error") && p.d.Fault == "" {
		p.d.Fault = "finish reason " + why
	}
}

// markDone takes a document for the one that ends the stream.
func (p *answers) markDone() { p.d.Done, p.finished = true, true }

// running takes the server's count of all tokens so far.
func (p *answers) running(n int) {
	if n > p.counted {
		p.d.Tokens += n - p.counted
		p.counted = n
	}
}

// state takes the object that llama.cpp puts into its answers, in every dialect
// that it speaks. It is read only once the server said why the text ended: until
// then it is provisional, and costs more than all the rest of the event.
func (p *answers) state() { p.stated = append(p.stated[:0], p.w.raw()...) }

// timings takes a member of that object.
func (p *answers) timings(name []byte) {
	t := &p.d.Timings
	switch string(name) {
	case "cache_n":
		t.CachedTokens = p.timer.count()
	case "prompt_n":
		t.PromptTokens = p.timer.count()
	case "prompt_ms":
		t.Prompt = p.timer.duration(time.Millisecond)
	case "predicted_n":
		t.OutputTokens = p.timer.count()
	case "predicted_ms":
		t.Predict = p.timer.duration(time.Millisecond)
	default:
		p.timer.raw()
	}
}

// reason returns a quoted reason as a string, without allocating for those that
// servers send.
func reason(quoted []byte) string {
	for _, known := range []string{`"stop"`, `"length"`, `"limit"`, `"eos"`, `"tool_calls"`, `"eos_token"`, `"stop_sequence"`} {
		if string(quoted) == known {
			return known[1 : len(known)-1]
		}
	}
	return string(unquote(nil, quoted))
}

// fault returns what an error member says: nothing for null, the message of an
// object that has one, else the value itself.
func fault(v []byte) string {
	switch string(v) {
	case "null", "false", `""`:
		return ""
	}
	var object struct{ Message string }
	if json.Unmarshal(v, &object) == nil && object.Message != "" {
		return excerpt([]byte(object.Message))
	}
	return excerpt(v)
}

// Cut marks where an excerpt of a server's words was cut off.
const Cut = "…"

// excerpt returns the start of what a server said, short enough for an error.
func excerpt(text []byte) string {
	const most = 200
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = unquote(nil, text)
	}
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + Cut
	}
	return string(text)
}
