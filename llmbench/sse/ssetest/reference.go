package ssetest

import (
	"bytes"
	"strings"
	"time"
)

// A transcript is what the standard makes of a body.
type transcript struct {
	events []Event
	ends   []int  // events[i] is complete once ends[i] bytes of the body came
	tail   *Event // what was pending at the end of the body, if that had data
	open   bool   // the body ends within a block, with or without data
	block  int    // the most bytes that lie between two blank lines
}

// anyRetry is the reconnection time of an event whose stream asked for one so
// long that parsers may differ on it.
const anyRetry = time.Duration(-1)

// longestRetry is the longest reconnection time in ms on which they must agree.
const longestRetry = 1<<31 - 1

// reference decodes body as sections 9.2.5 and 9.2.6 of the HTML standard say,
// step by step. It is slow, and simple enough to be read beside the text: the
// quotations are the standard's.
func reference(body []byte) transcript {
	var (
		out                   transcript
		data                  []byte
		eventType, idBuf, lid string
		retry                 time.Duration
	)

	// "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark
	// (BOM), if any."
	at := 0
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		at = 3
	}

	dispatch := func() *Event {
		// "Set the last event ID string of the event source to the value of
		// the last event ID buffer."
		lid = idBuf
		// "If the data buffer is an empty string, set the data buffer and the
		// event type buffer to the empty string and return."
		if len(data) == 0 {
			eventType = ""
			return nil
		}
		// "If the data buffer's last character is a U+000A LINE FEED (LF)
		// character, then remove the last character from the data buffer."
		e := Event{Type: "message", Data: strings.TrimSuffix(string(data), "\n"), ID: lid, Retry: retry}
		if eventType != "" {
			e.Type = eventType
		}
		data, eventType = nil, ""
		return &e
	}

	process := func(field, value string) {
		switch field {
		case "event":
			eventType = value
		case "data":
			data = append(data, value+"\n"...)
		case "id":
			// "If the field value does not contain U+0000 NULL, then set the
			// last event ID buffer to the field value. Otherwise, ignore."
			if !strings.Contains(value, "\x00") {
				idBuf = value
			}
		case "retry":
			// "If the field value consists of only ASCII digits, then
			// interpret the field value as an integer in base ten."
			if value == "" || strings.Trim(value, "0123456789") != "" {
				return
			}
			retry = 0
			for _, digit := range value {
				if retry == anyRetry {
					continue
				}
				retry = retry*10 + time.Duration(digit-'0')
				if retry > longestRetry {
					retry = anyRetry
				}
			}
			if retry != anyRetry {
				retry *= time.Millisecond
			}
		}
	}

	line := func(line string) {
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
		process(field, strings.TrimPrefix(value, " "))
	}

	blockStart := at
	for {
		// "Lines must be separated by either a U+000D CARRIAGE RETURN U+000A
		// LINE FEED (CRLF) character pair, a single U+000A LINE FEED (LF)
		// character, or a single U+000D CARRIAGE RETURN (CR) character."
		n := bytes.IndexAny(body[at:], "\r\n")
		if n < 0 {
			break
		}
		text := decodeUTF8(body[at : at+n])
		at += n + 1
		end := at // a CR ends the line, whether or not a LF follows
		if body[at-1] == '\r' && at < len(body) && body[at] == '\n' {
			at++
		}
		if text != "" {
			line(text)
			continue
		}
		// "If the line is empty (a blank line) Dispatch the event."
		out.block = max(out.block, end-blockStart)
		blockStart = at
		if e := dispatch(); e != nil {
			out.events = append(out.events, *e)
			out.ends = append(out.ends, end)
		}
	}

	// "Once the end of the file is reached, any pending data must be
	// discarded." It is kept apart here, for parsers that hand it over.
	out.block = max(out.block, len(body)-blockStart)
	out.open = blockStart < len(body)
	if rest := decodeUTF8(body[at:]); rest != "" {
		line(rest)
	}
	out.tail = dispatch()
	return out
}

// decodeUTF8 is the UTF-8 decoder of the Encoding standard: each maximal part
// of a broken sequence becomes one U+FFFD, which is not what Go's own
// conversion to runes makes of it.
func decodeUTF8(b []byte) string {
	var out strings.Builder
	var seq []byte // the sequence under way
	var needed int // its bytes still to come
	lower, upper := byte(0x80), byte(0xBF)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if needed > 0 {
			if c < lower || c > upper {
				out.WriteRune('\uFFFD')
				needed = 0
				i-- // c begins anew
			} else if seq = append(seq, c); needed == 1 {
				out.Write(seq)
				needed = 0
			} else {
				needed--
			}
			lower, upper = 0x80, 0xBF
			continue
		}
		seq = append(seq[:0], c)
		switch {
		case c < 0x80:
			out.WriteByte(c)
		case 0xC2 <= c && c <= 0xDF:
			needed = 1
		case 0xE0 <= c && c <= 0xEF:
			needed = 2
			if c == 0xE0 {
				lower = 0xA0
			} else if c == 0xED {
				upper = 0x9F
			}
		case 0xF0 <= c && c <= 0xF4:
			needed = 3
			if c == 0xF0 {
				lower = 0x90
			} else if c == 0xF4 {
				upper = 0x8F
			}
		default:
			out.WriteRune('\uFFFD')
		}
	}
	if needed > 0 {
		out.WriteRune('\uFFFD')
	}
	return out.String()
}
