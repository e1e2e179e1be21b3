package frames

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// all returns the events of a body as text, and the final error.
func all(d *Decoder) (events []string, err error) {
	for {
		e, err := d.Next()
		if err != nil {
			_, again := d.Next()
			if !errors.Is(again, err) {
				return events, errors.New("another error after " + err.Error())
			}
			return events, err
		}
		events = append(events, string(e.ID)+" "+string(e.Type)+" "+string(e.Data))
	}
}

// message returns a message of Amazon's event stream. headers are its encoded headers.
func encoded(headers, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func text(name, value string) string {
	return string(rune(len(name))) + name + "\x07\x00" + string(rune(len(value))) + value
}

// TestMessages reads messages in several ways of splitting the body.
func TestMessages(t *testing.T) {
	event := text(":event-type", "a") + text(":message-type", "event")
	every := "\x01t\x00\x01f\x01\x01b\x02x\x01s\x03xx\x01i\x04xxxx\x01l\x05xxxxxxxx\x01y\x06\x00\x02xx\x01d\x08xxxxxxxx\x01u\x09xxxxxxxxxxxxxxxx"
	for _, c := range []struct {
		name, body string
		want       []string
		err        string
	}{
		{"none", "", nil, "EOF"},
		{"two", encoded(event, "{}") + encoded(event, ""), []string{"event a {}", "event a "}, "EOF"},
		{"no headers", encoded("", "x"), []string{"  x"}, "EOF"},
		{"headers of every type", encoded(every+event, "x"), []string{"event a x"}, "EOF"},
		{"a large message", encoded(event, strings.Repeat("x", 100_000)), []string{"event a " + strings.Repeat("x", 100_000)}, "EOF"},
		{"an error", encoded(text(":message-type", "error")+text(":error-code", "c")+text(":error-message", "m"), ""), []string{"error c m"}, "EOF"},
		{"cut in the prelude", encoded(event, "{}")[:11], nil, "unexpected EOF"},
		{"cut in the payload", encoded(event, "{}") + encoded(event, "{}")[:40], []string{"event a {}"}, "unexpected EOF"},
		{"an unknown type of header", encoded("\x01x\x0a", ""), nil, "stream is corrupt: the headers of a message end within a header"},
		{"a header that is cut", encoded("\x01x\x07\x00\x05abc", ""), nil, "stream is corrupt: the headers of a message end within a header"},
		{"a name that is cut", encoded("\x05x", ""), nil, "stream is corrupt: the headers of a message end within a header"},
		{"a length that is cut", encoded("\x01x\x07\x00", ""), nil, "stream is corrupt: the headers of a message end within a header"},
		{"text", "HTTP/1.1 200 OK", nil, "stream is corrupt: a message's prelude states the checksum 20323030, but has 60ed7766"},
		{"too large", prelude(17<<20, 0), nil, "event too large: a message of 17825792 bytes: want at most 16777216"},
		{"too small", prelude(15, 0), nil, "stream is corrupt: a message of 15 bytes with headers of 0 bytes"},
		{"headers larger than the message", prelude(20, 5), nil, "stream is corrupt: a message of 20 bytes with headers of 5 bytes"},
	} {
		check(t, c.name, c.body, c.want, c.err)
	}
}

// prelude returns the prelude of a message.
func prelude(length, headers uint32) string {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, length), headers)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// check reads body in several ways of splitting it, with decoders that have read another body.
func check(t *testing.T, name, body string, want []string, wantErr string) {
	t.Helper()
	d := NewMessages(strings.NewReader("x"))
	for _, src := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body)), iotest.HalfReader(strings.NewReader(body)), iotest.DataErrReader(strings.NewReader(body))} {
		d.Reset(src)
		got, err := all(d)
		assert.Error(t, err, wantErr, name)
		assert.DeepEqual(t, got, want)
		assert.Equal(t, d.Buffered(), 0)
	}
}

// TestBudget checks that large events of several decoders share a budget, and that an event that ended gives its
// memory back.
func TestBudget(t *testing.T) {
	budget := sse.NewBudget(12 << 20)
	large := encoded("", strings.Repeat("x", 3<<20))
	decoder := func(body string) *Decoder {
		d := NewMessages(strings.NewReader(body))
		d.Budget = budget
		return d
	}
	first := decoder(large)
	_, err := first.Next()
	assert.NilError(t, err)
	_, err = decoder(large).Next()
	assert.ErrorIs(t, err, sse.ErrTooLarge)
	small := decoder(encoded("", "x"))
	_, err = small.Next()
	assert.NilError(t, err)
	_, err = first.Next()
	assert.Equal(t, err, io.EOF)
	second := decoder(large)
	_, err = second.Next()
	assert.NilError(t, err)
	second.Reset(strings.NewReader(large))
	_, err = second.Next()
	assert.NilError(t, err)
}

// TestNoProgress checks that a reader that returns nothing does not hang the decoder.
func TestNoProgress(t *testing.T) {
	_, err := all(NewMessages(nothing{}))
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

// A waiting body counts how often the decoder waits.
type waiting struct {
	io.Reader
	d     *Decoder
	waits int
	held  bool // the decoder held a buffer while it waited
}

func (w *waiting) Await() {
	w.waits++
	w.held = w.held || w.d.buf != nil
}

// TestAwait checks that a decoder waits without a buffer if the body allows that.
func TestAwait(t *testing.T) {
	event := encoded(text(":event-type", "a"), "{}")
	d := NewMessages(strings.NewReader(""))
	body := &waiting{Reader: io.MultiReader(strings.NewReader(event), strings.NewReader(event)), d: d}
	d.Reset(body)
	got, err := all(d)
	assert.Error(t, err, "EOF")
	assert.Equal(t, len(got), 2)
	assert.Assert(t, body.waits == 3 && !body.held, "%d waits, held %t", body.waits, body.held)
}

// FuzzMessages checks that the events of a body do not depend on how reads split it.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(encoded(text(":event-type", "a")+"\x01u\x09xxxxxxxxxxxxxxxx", "{}")))
	f.Add([]byte(prelude(17, 1)))
	f.Fuzz(func(t *testing.T, body []byte) { split(t, string(body)) })
}

// split checks that the events of a body do not depend on how reads split it.
func split(t *testing.T, body string) {
	want, wantErr := all(NewMessages(strings.NewReader(body)))
	got, err := all(NewMessages(iotest.OneByteReader(strings.NewReader(body))))
	assert.Error(t, err, wantErr.Error())
	assert.DeepEqual(t, got, want)
}
