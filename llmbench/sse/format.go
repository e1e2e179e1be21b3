package sse

// A Format says how a body is split into events.
type Format uint8

const (
	// EventStream is text/event-stream, exactly as in the HTML standard.
	EventStream Format = iota
	// JSONLines is a body of JSON documents, one per line. A line ends with LF, CRLF or CR, or with a NUL,
	// which some servers send. None of these bytes can occur within a line of JSON. Blank lines are
	// skipped. Every other line is the Data of an event. The event is [Event.Unterminated] if the body
	// ended before the end of the line.
	JSONLines
	// Auto detects the format, for a client that does not trust the content type. If the first byte of a
	// body, after any line ends, is '{', the body is JSONLines: in an event stream its first line would be
	// an unknown field. Any other body is EventStream, with one addition for llama.cpp before 2025: a field
	// named "error" makes an event of type "error", with the field's value as data.
	Auto
)

// FormatOf returns the format for a body with the given media type, which must be in lower case and without
// parameters. It returns JSONLines for the media types of newline-delimited JSON. It returns Auto for all
// other media types, because servers send both formats with them.
func FormatOf(mediaType string) Format {
	switch mediaType {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines", "application/jsonlines":
		return JSONLines
	}
	return Auto
}

// detectFormat sets lineMode. It must be called after dropBOM. It returns false if it needs more bytes. It
// may consume line ends, which have no meaning at the start of a body in any format.
func (d *Decoder) detectFormat() bool {
	switch d.Format {
	case JSONLines:
		d.lineMode = true
	case Auto:
		for d.pos < d.end && (d.buf[d.pos] == '\n' || d.buf[d.pos] == '\r') {
			d.pos++
		}
		if d.pos == d.end && d.err == nil {
			return false
		}
		d.lineMode = d.pos < d.end && d.buf[d.pos] == '{'
	}
	d.formatKnown = true
	return true
}
