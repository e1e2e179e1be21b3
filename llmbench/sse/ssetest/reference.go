package ssetest

import (
	"bytes"
	"cmp"
	"strings"
	"time"
)

// A transcript is the result of decoding a body according to the standard.
type transcript struct {
	events []Event
	ends   []int  // events[i] is complete after the first ends[i] bytes of the body
	tail   *Event // the event that was pending at the end of the body, if it had data
	open   bool   // the body ends within a block, with or without data
	block  int    // the maximum number of bytes between two blank lines
}

// anyRetry is the reconnection time of an event whose stream requested a time longer than longestRetry.
// Parsers may differ for such times.
const anyRetry = time.Duration(-1)

// longestRetry is the longest reconnection time, in milliseconds, for which parsers must agree.
const longestRetry = 1<<31 - 1

// reference decodes body step by step, as sections 9.2.5 and 9.2.6 of the HTML standard prescribe. It is
// slow, but simple enough to be compared with the text of the standard. The quotations in it are from there
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
func reference(body []byte) transcript {
	var out transcript
	var s eventSource

	// "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark
	// (BOM), if any."
	pos := 0
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		pos = 3
	}
	blockStart := pos
	for {
		// "Lines must be separated by either a U+000D CARRIAGE RETURN U+000A
		// LINE FEED (CRLF) character pair, a single U+000A LINE FEED (LF)
		// character, or a single U+000D CARRIAGE RETURN (CR) character."
		n := bytes.IndexAny(body[pos:], "\r\n")
		if n < 0 {
			break
		}
		text := decodeUTF8(body[pos : pos+n])
		pos += n + 1
		end := pos // a CR ends the line, even if an LF follows
		if body[pos-1] == '\r' && pos < len(body) && body[pos] == '\n' {
			pos++
		}
		if text != "" {
			s.line(text)
			continue
		}
		// "If the line is empty (a blank line) Dispatch the event."
		out.block = max(out.block, end-blockStart)
		blockStart = pos
		if e := s.dispatch(); e != nil {
			out.events = append(out.events, *e)
			out.ends = append(out.ends, end)
		}
	}

	// "Once the end of the file is reached, any pending data must be
	// discarded." The pending event is kept here, for parsers that return it.
	out.block = max(out.block, len(body)-blockStart)
	out.open = blockStart < len(body)
	if rest := decodeUTF8(body[pos:]); rest != "" {
		s.line(rest)
	}
	out.tail = s.dispatch()
	return out
}

// An eventSource holds the buffers of the standard's algorithm.
type eventSource struct {
	data              []byte
	eventType         string
	idBuffer, eventID string
	retry             time.Duration
}

// line interprets a line that is not blank.
func (s *eventSource) line(line string) {
	// "If the line starts with a U+003A COLON character (:) Ignore the line."
	if strings.HasPrefix(line, ":") {
		return
	}
	// "Collect the characters on the line before the first U+003A COLON
	// character (:), and let field be that string. Collect the characters
	// after [it], and let value be that string. If value starts with a
	// U+0020 SPACE character, remove it from value." And without a colon,
	// "using the whole line as the field name, and the empty string as the
	// field value".
	field, value, _ := strings.Cut(line, ":")
	s.field(field, strings.TrimPrefix(value, " "))
}

// field processes a field.
func (s *eventSource) field(name, value string) {
	switch name {
	case "event":
		s.eventType = value
	case "data":
		s.data = append(s.data, value+"\n"...)
	case "id":
		// "If the field value does not contain U+0000 NULL, then set the
		// last event ID buffer to the field value. Otherwise, ignore."
		if !strings.Contains(value, "\x00") {
			s.idBuffer = value
		}
	case "retry":
		// "If the field value consists of only ASCII digits, then
		// interpret the field value as an integer in base ten."
		if value == "" || strings.Trim(value, "0123456789") != "" {
			return
		}
		s.retry = 0
		for _, digit := range value {
			if s.retry == anyRetry {
				continue
			}
			s.retry = s.retry*10 + time.Duration(digit-'0')
			if s.retry > longestRetry {
				s.retry = anyRetry
			}
		}
		if s.retry != anyRetry {
			s.retry *= time.Millisecond
		}
	}
}

// dispatch ends a block. It returns nil if the block is not an event.
func (s *eventSource) dispatch() *Event {
	// "Set the last event ID string of the event source to the value of
	// the last event ID buffer."
	s.eventID = s.idBuffer
	// "If the data buffer is an empty string, set the data buffer and the
	// event type buffer to the empty string and return."
	if len(s.data) == 0 {
		s.eventType = ""
		return nil
	}
	// "If the data buffer's last character is a U+000A LINE FEED (LF)
	// character, then remove the last character from the data buffer."
	e := Event{Type: cmp.Or(s.eventType, "message"), Data: strings.TrimSuffix(string(s.data), "\n"), ID: s.eventID, Retry: s.retry}
	s.data, s.eventType = nil, ""
	return &e
}
