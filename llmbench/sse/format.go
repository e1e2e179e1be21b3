package sse

// A Format is how a body is cut into events.
type Format uint8

const (
	// EventStream is text/event-stream, by the letter of the HTML standard.
	EventStream Format = iota
	// JSONLines is a body of JSON documents, one a line. A line ends with LF,
	// CRLF, CR or, from some servers, a NUL: none of them can stand within a
	// document. Blank lines are passed over. Each other line is the Data of an
	// event, which is [Event.Unterminated] if the body ended before the line
	// did.
	JSONLines
	// Auto is what a client of an inference server wants, whatever content
	// type the server wrote. A body whose first byte, line ends apart, is '{'
	// is read as JSONLines: in an event stream that line would be a field that
	// nobody knows. Any other body is read as EventStream, with one addition:
	// a field named "error", which llama.cpp wrote until 2025, makes an event
	// of type "error" with the field's value as data.
	Auto
)

// FormatOf returns the format for a body of the media type: JSONLines for one
// that means newline-delimited JSON, else Auto, as servers send everything else
// under any name.
func FormatOf(mediaType string) Format {
	switch mediaType {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines", "application/jsonlines":
		return JSONLines
	}
	return Auto
}

// findFormat settles the format once the byte order mark is gone. It reports
// false while it needs more bytes for that. The line ends that it consumes on
// the way mean nothing in any format.
func (d *Decoder) findFormat() bool {
	switch d.Format {
	case JSONLines:
		d.lines = true
	case Auto:
		for d.pos < d.end && (d.buf[d.pos] == '\n' || d.buf[d.pos] == '\r') {
			d.pos++
		}
		if d.pos == d.end && d.err == nil {
			return false
		}
		d.lines = d.pos < d.end && d.buf[d.pos] == '{'
	}
	d.open = true
	return true
}
