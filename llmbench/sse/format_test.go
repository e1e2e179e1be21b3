package sse

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var formatCases = []struct {
	name   string
	format Format
	stream string
	want   []want
}{
	{"lines", JSONLines, "{1}\n{2}\n", []want{{"message", "{1}", "", false}, {"message", "{2}", "", false}}},
	{"CRLF", JSONLines, "{1}\r\n{2}\r\n", []want{{"message", "{1}", "", false}, {"message", "{2}", "", false}}},
	{"CR", JSONLines, "{1}\r{2}\r", []want{{"message", "{1}", "", false}, {"message", "{2}", "", false}}},
	{"NUL", JSONLines, "{1}\x00{2}\x00\n{3}\r\x00{4}", []want{{"message", "{1}", "", false}, {"message", "{2}", "", false}, {"message", "{3}", "", false}, {"message", "{4}", "", true}}},
	{"blank lines and no last line end", JSONLines, "\n\n{1}\n\r\n{2}", []want{{"message", "{1}", "", false}, {"message", "{2}", "", true}}},
	{"a byte order mark", JSONLines, "\ufeff{1}\n", []want{{"message", "{1}", "", false}}},
	{"lines that are not JSON", JSONLines, "data: x\nerror: y\n", []want{{"message", "data: x", "", false}, {"message", "error: y", "", false}}},
	{"no line", JSONLines, "\r\n\n", nil},

	{"JSON lines are detected", Auto, "{1}\n{2}\n", []want{{"message", "{1}", "", false}, {"message", "{2}", "", false}}},
	{"JSON lines are detected after a byte order mark and blank lines", Auto, "\ufeff\r\n\n{1}", []want{{"message", "{1}", "", true}}},
	{"events are detected", Auto, "\n\ndata: {1}\n\n{2}\n\ndata: a", []want{{"message", "{1}", "", false}, {"message", "a", "", true}}},
	{"a second byte order mark is data", Auto, "\ufeff\ufeffdata: a\n\n", nil},
	{"a byte order mark after a line end is data", Auto, "\n\ufeffdata: a\n\n", nil},
	{"empty body", Auto, "", nil},
	{"blank lines", Auto, "\r\n\n\r", nil},
	{"an error field", Auto, "data: a\n\nerror: {1}\n\n", []want{{"message", "a", "", false}, {"error", "{1}", "", false}}},
	{"an error field without a blank line", Auto, "error:{1}", []want{{"error", "{1}", "", true}}},
	{"an error field beside data", Auto, "data: a\nerror: b\n\ndata: c\n\n", []want{{"error", "a\nb", "", false}, {"message", "c", "", false}}},

	{"an error field in a plain stream", EventStream, "error: {1}\n\ndata: a\n\n", []want{{"message", "a", "", false}}},
	{"JSON lines in a plain stream", EventStream, "{1}\n{2}\n\n", nil},
}

func TestFormat(t *testing.T) {
	for _, c := range formatCases {
		t.Run(c.name, func(t *testing.T) {
			d := &Decoder{Format: c.format}
			check := func(how string, r io.Reader) {
				t.Helper()
				if got, err := decode(d, r); !slices.Equal(got, c.want) || err != io.EOF {
					t.Errorf("%s: %q has %+v, %v; want %+v", how, c.stream, got, err, c.want)
				}
			}
			stream := []byte(c.stream)
			check("whole", split(stream))
			check("byte by byte", iotest.OneByteReader(split(stream)))
			check("EOF at once", iotest.DataErrReader(split(stream)))
			for i := range stream {
				check("split", split(stream, i))
			}
		})
	}
}

// TestFormatPrompt checks that a line is returned as soon as its end was read.
func TestFormatPrompt(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\x00"} {
		for _, format := range []Format{JSONLines, Auto} {
			source := chunks{[]byte("{1}"), []byte(end), []byte("{2}"), []byte(end)}
			d := &Decoder{Format: format}
			d.Reset(&source)
			for left := 2; left >= 0; left -= 2 {
				if _, err := d.Next(); err != nil || len(source) > 0 && len(source[0]) == 0 {
					source = source[1:]
				}
				if len(source) != left && !(left == 0 && len(source) == 1 && len(source[0]) == 0) {
					t.Errorf("end %q: %d reads left; want %d", end, len(source), left)
				}
			}
		}
	}
}

func TestFormatLimit(t *testing.T) {
	d := &Decoder{MaxEventSize: 10, Format: Auto}
	for _, c := range []struct {
		stream string
		events int
		ok     bool
	}{
		{"{23456789}\n{2}\n", 2, true},
		{"{2}\n{234567890}\n{3}\n", 1, false},
		{"{" + strings.Repeat("x", 100), 0, false},
		{strings.Repeat("\n", 1000) + "{2}\n", 1, true},
		{"error: 345\nerror: 345\nerror: 345\nerror: 345\n\n", 0, false},
	} {
		got, err := decode(d, iotest.OneByteReader(strings.NewReader(c.stream)))
		if len(got) != c.events || (err == io.EOF) != c.ok || !c.ok && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%q has %+v, %v; want %d events, ok %v", c.stream, got, err, c.events, c.ok)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for mediaType, want := range map[string]Format{
		"application/x-ndjson": JSONLines, "application/jsonl": JSONLines,
		"text/event-stream": Auto, "text/plain": Auto, "": Auto,
	} {
		if got := FormatOf(mediaType); got != want {
			t.Errorf("FormatOf(%q) = %d; want %d", mediaType, got, want)
		}
	}
}
