package mockserver

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A framer puts JSON documents into a stream: as events of text/event-stream, or
// each on a line of its own, or each with a NUL after it. It keeps what has not
// been written yet, in one buffer, so that an event allocates nothing. An answer
// that is not streamed is a single document without a frame.
type framer struct {
	shape    shape.Shape
	spelling spelling
	lines    bool // no events, but documents that end with eol
	bare     bool // no frame at all
	buf      []byte
	begun    bool // something was framed before
	id       int  // of the last event
	doc      int  // where in buf the current document begins
	// The first document with tokens that is in buf, and not yet written, is
	// buf[from:to]; to is 0 if there is none.
	from, to int
	scratch  []byte
	data     string // begins an event, after its other lines
	eol      string
}

// newFramer makes a framer of events or, with lines, of documents that end so.
func newFramer(s shape.Shape, lines string) *framer {
	f := &framer{shape: s, spelling: spellingOf(s), lines: lines != "", data: s.DataPrefix(), eol: s.LineEnd()}
	if f.lines {
		f.data = ""
		if lines != "\n" || f.eol != "\r\n" { // CR alone ends no line of JSON
			f.eol = lines
		}
	}
	return f
}

// add appends to the buffer.
func (f *framer) add(parts ...string) {
	for _, p := range parts {
		f.buf = append(f.buf, p...)
	}
}

func (f *framer) addInt(n int) { f.buf = appendInt(f.buf, n) }

// begin begins an event that carries no tokens; its document is to be appended
// to buf, and then comes end. The name is that of the event, empty for none.
func (f *framer) begin(name string) {
	if f.bare {
		f.doc = len(f.buf)
		return
	}
	if !f.begun {
		f.start()
	}
	if !f.lines {
		if f.shape.EventLines {
			f.id++
			f.add("id: ")
			f.addInt(f.id)
			f.add(f.eol)
			if name == "" {
				f.add("event: message", f.eol)
			}
		}
		if name != "" {
			f.add("event: ", name, f.eol)
		}
	}
	f.buf = append(f.buf, f.data...)
	f.doc = len(f.buf)
}

// start begins the stream.
func (f *framer) start() {
	f.begun = true
	if f.shape.BOM {
		f.add("\ufeff")
	}
	if f.shape.EventLines && !f.lines {
		f.add("retry: 3000", f.eol, f.eol, "id: 0", f.eol, f.eol)
	}
}

// pings adds what the shape wants before an event with tokens.
func (f *framer) pings() {
	if f.lines || f.bare || !f.shape.Ping && !f.shape.PingEvent {
		return
	}
	if !f.begun {
		f.start()
	}
	if f.shape.Ping {
		f.add(": ping", f.eol, f.eol)
	}
	if f.shape.PingEvent {
		f.add("event: ping", f.eol, f.data, "2000-01-01 00:00:00.123456", f.eol, f.eol)
	}
}

// beginTokens is begin for an event that carries tokens.
func (f *framer) beginTokens(name string) {
	f.pings()
	f.begin(name)
}

// end ends an event.
func (f *framer) end() {
	if f.spelling != (spelling{}) {
		f.scratch = append(f.scratch[:0], f.buf[f.doc:]...)
		f.buf = f.spelling.append(f.buf[:f.doc], f.scratch)
	}
	if f.bare {
		return
	}
	f.buf = append(f.buf, f.eol...)
	if !f.lines {
		f.buf = append(f.buf, f.eol...)
	}
}

// endTokens is end for an event that carries tokens.
func (f *framer) endTokens() {
	f.end()
	if f.to == 0 {
		f.from, f.to = f.doc, len(f.buf)
	}
}

// done adds the event that says [DONE]. That is no JSON and has no spelling.
func (f *framer) done() {
	f.begin("")
	f.add("[DONE]", f.eol, f.eol)
}

// written forgets what is in the buffer.
func (f *framer) written() {
	f.buf = f.buf[:0]
	f.from, f.to = 0, 0
}

// split returns where the buffer is to be split, 0 for nowhere.
func (f *framer) split() int {
	if f.shape.Split == "" || f.to == 0 {
		return 0
	}
	if f.shape.Split == shape.SplitUTF8 {
		for i := f.from; i < f.to; i++ {
			if f.buf[i] >= 0xc0 {
				return i + 1
			}
		}
	}
	return (f.from + f.to) / 2
}

// quoted returns a string in JSON, with what json.Marshal escapes for HTML as it
// is.
func quoted(s string) string { return string(marshal(s)) }

func appendFloat(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'f', -1, 64) }
