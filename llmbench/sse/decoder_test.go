package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gotest.tools/v3/assert"
)

// want is an expected event.
type want struct {
	Type, Data, ID string
	Unterminated   bool
}

// chunks is a reader that returns one element per Read.
type chunks [][]byte

func (c *chunks) Read(p []byte) (int, error) {
	for len(*c) > 0 && len((*c)[0]) == 0 {
		*c = (*c)[1:]
	}
	if len(*c) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*c)[0])
	(*c)[0] = (*c)[0][n:]
	return n, nil
}

// split returns a reader of stream whose Reads end at the given offsets.
func split(stream []byte, at ...int) *chunks {
	var c chunks
	last := 0
	for _, i := range at {
		c = append(c, stream[last:i])
		last = i
	}
	c = append(c, stream[last:])
	return &c
}

// decode returns all events of r and the error after them.
func decode(d *Decoder, r io.Reader) ([]want, error) {
	d.Reset(r)
	var got []want
	for {
		e, err := d.Next()
		if err != nil {
			return got, err
		}
		got = append(got, want{string(e.Type), string(e.Data), string(e.ID), e.Unterminated})
	}
}

var cases = []struct {
	name, stream string
	want         []want
	retry        time.Duration
}{
	{name: "empty body"},
	{name: "only a byte order mark", stream: "\ufeff"},
	{name: "only line ends", stream: "\r\n\r\r\n\n"},
	{name: "one event", stream: "data: a\n\n", want: []want{{"message", "a", "", false}}},
	{name: "one leading space is dropped, no more", stream: "data:  a \n\n", want: []want{{"message", " a ", "", false}}},
	{name: "a tab is kept", stream: "data:\ta\n\n", want: []want{{"message", "\ta", "", false}}},
	{name: "no space", stream: "data:a\n\ndata:[DONE]\n\n", want: []want{{"message", "a", "", false}, {"message", "[DONE]", "", false}}},
	{name: "colons in the value", stream: "data: a: b:c\n\n", want: []want{{"message", "a: b:c", "", false}}},
	{name: "several data lines", stream: "data: a\ndata: b\n: c\ndata\ndata: d\n\n", want: []want{{"message", "a\nb\n\nd", "", false}}},
	{name: "empty data is an event", stream: "data\n\ndata:\n\ndata: \n\n", want: []want{{"message", "", "", false}, {"message", "", "", false}, {"message", "", "", false}}},
	{name: "a block without data is not an event", stream: "event: x\nid: 1\nretry: 5\n\ndata: a\n\n", want: []want{{"message", "a", "1", false}}, retry: 5 * time.Millisecond},
	{name: "comments", stream: ": ping\n\n:\n\n::\ndata: a\n:ping\n\n", want: []want{{"message", "a", "", false}}},
	{name: "CRLF", stream: "data: a\r\n\r\ndata: b\r\ndata: c\r\n\r\n", want: []want{{"message", "a", "", false}, {"message", "b\nc", "", false}}},
	{name: "CR", stream: "data: a\r\rdata: b\rdata: c\r\r", want: []want{{"message", "a", "", false}, {"message", "b\nc", "", false}}},
	{name: "mixed line ends", stream: "data: a\r\n\ndata: b\n\r\ndata: c\r\r\ndata: d\n\r", want: []want{{"message", "a", "", false}, {"message", "b", "", false}, {"message", "c", "", false}, {"message", "d", "", false}}},
	{name: "other separators are data", stream: "data: a\v\f\u0085\u2028\u2029b\n\n", want: []want{{"message", "a\v\f\u0085\u2028\u2029b", "", false}}},
	{name: "byte order mark", stream: "\ufeffdata: a\n\n", want: []want{{"message", "a", "", false}}},
	{name: "only the first byte order mark", stream: "\ufeff\ufeffdata: a\n\ndata: b\n\n\ufeffdata: c\n\n", want: []want{{"message", "b", "", false}}},
	{name: "half a byte order mark", stream: "\xef\xbbdata: a\n\ndata: b\n\n", want: []want{{"message", "b", "", false}}},
	{name: "names are literal", stream: "Data: a\n data: b\ndata : c\ndat: d\ndata\x00: e\nwhatever\ndata: f\n\n", want: []want{{"message", "f", "", false}}},
	{name: "event types", stream: "event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: c\nevent:\ndata: 3\n\nevent: d\n\ndata: 4\n\n", want: []want{{"b", "1", "", false}, {"message", "2", "", false}, {"message", "3", "", false}, {"message", "4", "", false}}},
	{name: "ids persist until reset", stream: "id: 1\ndata: a\n\ndata: b\n\nid: 2\x003\ndata: c\n\nid\ndata: d\n\nid: 4\n\ndata: e\n\n", want: []want{{"message", "a", "1", false}, {"message", "b", "1", false}, {"message", "c", "1", false}, {"message", "d", "", false}, {"message", "e", "4", false}}},
	{name: "retry takes digits only", stream: "retry: 0250\nretry: +1\nretry: 1.5\nretry:  7\nretry: \nretry: ٣\n\n", retry: 250 * time.Millisecond},
	{name: "retry does not overflow", stream: "retry: 99999999999999999999999999\n\n", retry: (1<<63 - 1) / 16 / time.Millisecond * time.Millisecond},
	{name: "invalid UTF-8 is left alone", stream: "data: \xff\xc0\xaf\n\n", want: []want{{"message", "\xff\xc0\xaf", "", false}}},
	{name: "a NUL is data", stream: "data: \x00\n\n", want: []want{{"message", "\x00", "", false}}},
	{name: "no blank line at the end", stream: "data: a\n\ndata: b\n", want: []want{{"message", "a", "", false}, {"message", "b", "", true}}},
	{name: "no line end at the end", stream: "id: 7\nevent: x\ndata: b", want: []want{{"x", "b", "7", true}}},
	{name: "a CR at the end completes the line, not the event", stream: "data: a\r", want: []want{{"message", "a", "", true}}},
	{name: "an unfinished comment at the end", stream: "data: a\n\n: b", want: []want{{"message", "a", "", false}}},
	{name: "an unfinished name at the end", stream: "data: a\n\ndat", want: []want{{"message", "a", "", false}}},
}

func TestDecoder(t *testing.T) {
	d := new(Decoder)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, r io.Reader) {
				t.Helper()
				got, err := decode(d, r)
				if !slices.Equal(got, c.want) || err != io.EOF {
					t.Errorf("%s: %q has %+v, %v; want %+v, EOF", how, c.stream, got, err, c.want)
				}
				if retry, ok := d.Retry(); retry != c.retry || ok != (c.retry != 0) {
					t.Errorf("%s: Retry() = %v, %v; want %v", how, retry, ok, c.retry)
				}
			}
			s := []byte(c.stream)
			check("whole", bytes.NewReader(s))
			check("data with EOF", iotest.DataErrReader(bytes.NewReader(s)))
			check("byte by byte", iotest.OneByteReader(bytes.NewReader(s)))
			for i := range len(s) + 1 {
				check(fmt.Sprintf("split at %d", i), split(s, i))
				for j := i; j <= len(s); j++ {
					check(fmt.Sprintf("split at %d and %d", i, j), split(s, i, j))
				}
			}
		})
	}
}

// TestDecoderPrompt checks that an event is returned before the decoder reads the
// bytes after it, for every line end.
func TestDecoderPrompt(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		first := "data: a" + end + end
		if end == "\r\n" {
			first = strings.TrimSuffix(first, "\n") // the CR alone completes the line
		}
		d := NewDecoder(io.MultiReader(strings.NewReader(first), iotest.ErrReader(errors.New("read too far"))))
		if e, err := d.Next(); err != nil || string(e.Data) != "a" {
			t.Errorf("line end %q: Next() = %q, %v; want a", end, e.Data, err)
		}
	}
}

// A waiting body returns one text per Read, and records whether its decoder has a buffer while it waits.
type waiting struct {
	d     *Decoder
	texts []string
	holds int // how many times the decoder had a buffer
}

func (w *waiting) Await() {
	if w.d.buf != nil {
		w.holds++
	}
}

func (w *waiting) Read(p []byte) (int, error) {
	if len(w.texts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.texts[0])
	w.texts = w.texts[1:]
	return n, nil
}

// TestWaiter checks that a decoder has no buffer between events and after the end, and that its events
// are the same as for any other body.
func TestWaiter(t *testing.T) {
	long := strings.Repeat("x", 2*minBuffer)
	w := &waiting{d: new(Decoder)}
	for range 2 {
		w.texts = []string{"data: a\n\n", "data: b\n", "data: ", "c\n\n", "data: " + long[:minBuffer/2], "\n\n", "data: d"}
		w.d.Reset(w)
		for _, want := range []string{"a", "b\nc", long[:minBuffer/2], "d"} {
			e, err := w.d.Next()
			if err != nil || string(e.Data) != want {
				t.Fatalf("Next() = %q, %v; want %q", e.Data, err, want)
			}
		}
		for range 2 {
			if e, err := w.d.Next(); err != io.EOF {
				t.Fatalf("Next() = %q, %v; want EOF", e.Data, err)
			}
		}
		if w.d.buf != nil || w.holds != 0 {
			t.Errorf("a buffer in %d waits, and %d bytes of buffer after the end; want none", w.holds, len(w.d.buf))
		}
	}
}

func TestDecoderReadError(t *testing.T) {
	broken := errors.New("connection reset")
	d := NewDecoder(io.MultiReader(strings.NewReader("data: a\n\ndata: b\ndata: c\n"), iotest.ErrReader(broken)))
	if e, err := d.Next(); err != nil || string(e.Data) != "a" {
		t.Fatalf("Next() = %q, %v; want a", e.Data, err)
	}
	for range 2 {
		if e, err := d.Next(); err != broken || e.Data != nil {
			t.Errorf("Next() = %q, %v; want no event and %v", e.Data, err, broken)
		}
	}
	if _, err := NewDecoder(stuck{}).Next(); err != io.ErrNoProgress {
		t.Errorf("Next() on a reader without progress = %v; want %v", err, io.ErrNoProgress)
	}
}

// stuck is a reader that returns neither bytes nor an error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestDecoderLimit(t *testing.T) {
	line := func(n int) string { return "data: " + strings.Repeat("x", n-len("data: ")) + "\n" }
	for _, c := range []struct {
		name, stream string
		limit        int
		events       int
		ok           bool
	}{
		{"a line at the limit", line(100) + "\n", 100, 1, true},
		{"a line over the limit", line(101) + "\n", 100, 0, false},
		{"a comment over the limit", ":" + strings.Repeat("x", 100) + "\n", 100, 0, false},
		{"data at the limit", strings.Repeat(line(26), 4) + "data: " + strings.Repeat("x", 16) + "\n\n", 100, 1, true},
		{"data over the limit", strings.Repeat(line(26), 4) + "data: " + strings.Repeat("x", 17) + "\n\n", 100, 0, false},
		{"many small events", strings.Repeat(line(60)+"\n", 100), 100, 100, true},
		{"many comments before an event", strings.Repeat(": ping\n", 1000) + "data: a\n\n", 100, 1, true},
		{"an unfinished line over the limit", "data: a\n\ndata: " + strings.Repeat("x", 100), 100, 1, false},
		{"no event after the error", line(101) + "\n" + line(50) + "\n", 100, 0, false},
		{"a huge line by default", line(5<<20) + "\n" + line(20) + "\n", 0, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole":        strings.NewReader(c.stream),
				"half reads":   iotest.HalfReader(strings.NewReader(c.stream)),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.stream)),
			} {
				d := &Decoder{MaxEventSize: c.limit}
				got, err := decode(d, r)
				if len(got) != c.events || (err == io.EOF) != c.ok {
					t.Errorf("%s: %d events, %v; want %d, ok %v", how, len(got), err, c.events, c.ok)
				}
				if !c.ok && !errors.Is(err, ErrTooLarge) {
					t.Errorf("%s: error %v is not ErrTooLarge", how, err)
				}
				if _, again := d.Next(); again != err {
					t.Errorf("%s: Next() after %v = %v; want the same", how, err, again)
				}
				if c.limit > 0 && cap(d.buf)+cap(d.data) > 2*(c.limit+minBuffer) {
					t.Errorf("%s: buffers of %d bytes for a limit of %d", how, cap(d.buf)+cap(d.data), c.limit)
				}
			}
		})
	}
}

// TestEndless checks that an endless line and an endless event allocate less than
// twice the limit in total.
func TestEndless(t *testing.T) {
	for _, limit := range []int{100_000, 5_000_000, DefaultMaxEventSize} {
		for _, body := range []string{"x", "data: 0123456789\n"} {
			d := NewDecoder(endless(strings.Repeat(body, 1000)))
			d.MaxEventSize = limit
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := d.Next()
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("endless %.20q: %v; want ErrTooLarge", body, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took >= 2*uint64(limit) {
				t.Errorf("endless %.20q allocates %d bytes; want less than twice the limit of %d", body, took, limit)
			}
		}
	}
}

// endless is a reader that repeats a string forever.
type endless string

func (s endless) Read(p []byte) (int, error) { return copy(p, s), nil }

// FuzzDecoder checks that the result does not depend on how reads split a body, and
// that no event exceeds the limit.
func FuzzDecoder(f *testing.F) {
	for i, c := range cases {
		f.Add([]byte(c.stream), uint64(i))
	}
	for i, c := range formatCases {
		f.Add([]byte(c.stream), uint64(i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		for _, format := range []Format{EventStream, JSONLines, Auto} {
			d := &Decoder{MaxEventSize: 1 << 10, Format: format}
			whole, err := decode(d, bytes.NewReader(stream))
			for name, r := range map[string]io.Reader{
				"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
				"split at two": split(stream, cuts(len(stream), seed)...),
			} {
				got, gotErr := decode(d, r)
				if !slices.Equal(got, whole) || fmt.Sprint(gotErr) != fmt.Sprint(err) {
					t.Errorf("format %d, %s: %q has %+v, %v; read whole, it has %+v, %v", format, name, stream, got, gotErr, whole, err)
				}
			}
			for _, e := range whole {
				if len(e.Data) > d.MaxEventSize {
					t.Errorf("event of %d bytes; limit %d", len(e.Data), d.MaxEventSize)
				}
			}
		}
	})
}

// cuts picks two offsets in [0,n], in order.
func cuts(n int, seed uint64) []int {
	i, j := int(seed%uint64(n+1)), int(seed>>32%uint64(n+1))
	return []int{min(i, j), max(i, j)}
}

// TestBuffered checks how many bytes are left after an event, even if its last line ends with CR LF.
func TestBuffered(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		d := NewDecoder(strings.NewReader("data: 1" + end + end + "data: 2" + end + end + "data"))
		for _, want := range []int{2*len(end) + len("data: 2data"), len("data")} {
			_, err := d.Next()
			assert.NilError(t, err)
			assert.Equal(t, d.Buffered(), want, "%q", end)
		}
	}
}

// TestIgnored checks which line that was not read the decoder returns, however the reads split the stream.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		stream, want string
		data         bool
	}{
		{"event: a\nid: 1\nretry: x\n: {comment}\ndata: x\ndata\n\n", "", false},
		{"data: x\n\nupstream error: read ECONNRESET\n\n", "upstream error: read ECONNRESET", false},
		{"data: x\n\n{\"text\":\"y\"}\n\nbye\n", `{"text":"y"}`, true},
		{"hello\nata: [DONE]\n\n", "ata: [DONE]", false},
		{"hello\n \n\t\n\n", "hello", false},
		{"data: x\n\nevent: error\n\nevent: ping\n\nbye\n", LostError, true},
		{"one\ntwo", "two", false},
		{"data: x\n\n" + strings.Repeat("y", 1000) + "\n\n", strings.Repeat("y", 256), false},
	} {
		d := NewDecoder(nil)
		for name, body := range map[string]io.Reader{"whole": strings.NewReader(c.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(c.stream))} {
			d.Reset(body)
			for {
				if _, err := d.Next(); err != nil {
					break
				}
			}
			line, data := d.Ignored()
			if string(line) != c.want || data != c.data {
				t.Errorf("%s: %q: Ignored() = %q, %t; want %q, %t", name, c.stream, line, data, c.want, c.data)
			}
		}
	}
}

// TestComment checks that Comment is called for each comment line, and for no other line.
func TestComment(t *testing.T) {
	comments := ""
	d := NewDecoder(strings.NewReader(": a\n\n:\ndata: :x\n:b\n\nevent: y\n: c\n\n"))
	d.Comment = func(text []byte) { comments += string(text) + "," }
	for _, want := range []string{"a,,b,", "a,,b,c,"} {
		d.Next()
		assert.Equal(t, comments, want)
	}
	d.Reset(strings.NewReader(": a\n\n"))
	d.Next()
	assert.Equal(t, comments, "a,,b,c,a,")
}
