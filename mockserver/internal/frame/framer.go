// Package frame writes JSON documents into the body of an answer: as events of
// text/event-stream, as lines of JSON, or as a single document without a frame. A
// shape.Shape decides how the events and the JSON are spelled.
package frame

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A Framer renders the documents of one answer into a buffer. The buffer is reused after
// each write, so that an event allocates nothing.
type Framer struct {
	// Shape is what the answer looks like on the wire.
	Shape shape.Shape
	// Unframed omits frames: the answer is a single document.
	Unframed bool
	// Buf has everything rendered since Clear. Between Begin and End, the caller appends
	// the current document to Buf.
	Buf []byte

	spelling   spelling
	noEvents   bool   // documents are not events; each ends with lineEnd
	binary     bool   // documents are the payloads of messages of Amazon's event stream
	chunks     bool   // with binary, documents are encoded
	name       string // with binary, the name of the current event or exception
	exception  bool   // with binary, the current message is an exception
	dataPrefix string // the text before a document on its line
	lineEnd    string
	started    bool // the first bytes of the stream have been rendered
	lastID     int  // id of the last event, with Shape.EventLines
	docStart   int  // where in Buf the current document begins
	tokens     bool // the current document carries tokens
	// The first document in Buf that carries tokens is Buf[tokensFrom:tokensTo], including
	// its line end. tokensTo is 0 if Buf has no such document.
	tokensFrom, tokensTo int
	scratch              []byte
}

// Ends of documents that are not the bytes after each document.
const (
	Messages = "messages" // documents are the payloads of messages of Amazon's event stream
	Chunks   = "chunks"   // documents are encoded in the payloads of such messages, which all have the name "chunk"
)

// New returns a new framer. documentEnd is empty if documents are events. Otherwise it is
// the end of each document, "\n" or "\x00", Messages or Chunks.
func New(s shape.Shape, documentEnd string) *Framer {
	f := &Framer{Shape: s, spelling: spellingOf(s), noEvents: documentEnd != "", dataPrefix: s.DataPrefix(), lineEnd: s.LineEnd()}
	switch {
	case documentEnd == Messages, documentEnd == Chunks:
		f.binary, f.chunks = true, documentEnd == Chunks
		f.dataPrefix, f.lineEnd = "", ""
	case f.noEvents:
		f.dataPrefix = ""
		if documentEnd != "\n" || f.lineEnd != "\r\n" { // a CR alone would not end a line of JSON
			f.lineEnd = documentEnd
		}
	}
	return f
}

// Add appends text to the current document.
func (f *Framer) Add(parts ...string) {
	for _, p := range parts {
		f.Buf = append(f.Buf, p...)
	}
}

// AddInt appends text and then an integer to the current document.
func (f *Framer) AddInt(text string, n int) {
	f.Buf = strconv.AppendInt(append(f.Buf, text...), int64(n), 10)
}

// AddFloat appends text and then a number, in the shortest decimal notation, to the current document.
func (f *Framer) AddFloat(text string, v float64) {
	f.Buf = strconv.AppendFloat(append(f.Buf, text...), v, 'f', -1, 64)
}

// Begin begins a document without tokens. name is the event's name, or empty if the event
// has no name.
func (f *Framer) Begin(name string) {
	f.tokens = false
	if f.Unframed {
		f.docStart = len(f.Buf)
		return
	}
	f.start()
	if !f.noEvents {
		if f.Shape.EventLines {
			f.lastID++
			f.AddInt("id: ", f.lastID)
			f.Add(f.lineEnd)
			if name == "" {
				f.Add("event: message", f.lineEnd)
			}
		}
		if name != "" {
			f.Add("event: ", name, f.lineEnd)
		}
	}
	if f.binary {
		f.name, f.exception = name, false
	}
	f.Buf = append(f.Buf, f.dataPrefix...)
	f.docStart = len(f.Buf)
}

// BeginTokens begins a document that carries tokens. name is as in Begin.
func (f *Framer) BeginTokens(name string) {
	f.ping()
	f.Begin(name)
	f.tokens = true
}

// BeginEvent is BeginTokens if tokens is true, and otherwise Begin.
func (f *Framer) BeginEvent(name string, tokens bool) {
	if tokens {
		f.BeginTokens(name)
	} else {
		f.Begin(name)
	}
}

// start renders the first bytes of a stream. Further calls do nothing.
func (f *Framer) start() {
	if f.started {
		return
	}
	f.started = true
	if f.Shape.BOM && !f.binary {
		f.Add("\ufeff")
	}
	if f.Shape.EventLines && !f.noEvents {
		f.Add("retry: 3000", f.lineEnd, f.lineEnd, "id: 0", f.lineEnd, f.lineEnd)
	}
}

// ping renders what the shape puts before an event with tokens.
func (f *Framer) ping() {
	if f.noEvents || f.Unframed || !f.Shape.Ping && !f.Shape.PingEvent {
		return
	}
	f.start()
	if f.Shape.Ping {
		f.Add(": ping", f.lineEnd, f.lineEnd)
	}
	if f.Shape.PingEvent {
		f.Add("event: ping", f.lineEnd, f.dataPrefix, "2000-01-01 00:00:00.123456", f.lineEnd, f.lineEnd)
	}
}

// End ends a document and changes its spelling as the shape prescribes.
func (f *Framer) End() {
	if f.spelling != (spelling{}) {
		f.scratch = append(f.scratch[:0], f.Buf[f.docStart:]...)
		f.Buf = f.spelling.append(f.Buf[:f.docStart], f.scratch)
	}
	if !f.Unframed {
		f.EndVerbatim()
	}
	if f.tokens && f.tokensTo == 0 {
		f.tokensFrom, f.tokensTo = f.docStart, len(f.Buf)
	}
}

// Document renders a document without tokens. name is as in Begin.
func (f *Framer) Document(name string, parts ...string) {
	f.Begin(name)
	f.Add(parts...)
	f.End()
}

// EndVerbatim ends a document that has a frame, without a change of its spelling.
func (f *Framer) EndVerbatim() {
	if f.binary {
		f.wrap()
		return
	}
	f.Buf = append(f.Buf, f.lineEnd...)
	if !f.noEvents {
		f.Buf = append(f.Buf, f.lineEnd...)
	}
}

// Done renders the event [DONE], which is not JSON.
func (f *Framer) Done() {
	f.Begin("")
	f.Add("[DONE]", f.lineEnd, f.lineEnd)
}

// LineLength returns the length of the current line so far, in bytes.
func (f *Framer) LineLength() int { return len(f.dataPrefix) + len(f.Buf) - f.docStart }

// Clear empties the buffer after a write.
func (f *Framer) Clear() {
	f.Buf = f.Buf[:0]
	f.tokensFrom, f.tokensTo = 0, 0
}

// SplitAt returns the index at which the shape splits the buffer into two writes, or 0 if
// it does not split the buffer.
func (f *Framer) SplitAt() int {
	if f.Shape.Split == "" || f.tokensTo == 0 {
		return 0
	}
	if f.Shape.Split == shape.SplitUTF8 {
		for i := f.tokensFrom; i < f.tokensTo; i++ {
			if f.Buf[i] >= 0xc0 { // the first byte of a character of several bytes
				return i + 1
			}
		}
	}
	return (f.tokensFrom + f.tokensTo) / 2
}
