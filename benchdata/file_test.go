package benchdata

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// endless is a reader of a long text: a beginning, then the same letter, up to a number of bytes.
type endless struct {
	begin  string
	letter byte
	left   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	if n > 0 {
		return n, nil
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n = min(len(p), e.left)
	for i := range p[:n] {
		p[i] = e.letter
	}
	e.left -= n
	return n, nil
}

// TestLongRecord checks that a record of 100 MB is an error in every format. The error must name the
// line and the limit, and reading must not allocate memory for the whole record.
func TestLongRecord(t *testing.T) {
	const size, most = 100 << 20, 96 << 20
	for _, tt := range []struct {
		begin string
		line  int
		read  func(io.Reader) error
	}{
		{`[` + pair(4, 4) + ",\n" + `{"conversations":[{"value":"`, 2, func(r io.Reader) error { _, err := ShareGPT{}.Read(r, 5); return err }},
		{`[` + pair(4, 4) + ",\n" + `{"id":"`, 2, func(r io.Reader) error { _, err := ShareGPT{}.Read(r, 5); return err }},
		{"{\"question\": \"a b\"}\n{\"question\": \"", 2, func(r io.Reader) error { _, err := Questions{Format: OpenQA}.Read(r, 5); return err }},
		{"{\"question\": \"a b\"}\n{\"id\": 1", 2, func(r io.Reader) error { _, err := Questions{Format: OpenQA}.Read(r, 5); return err }},
		{"one\ntwo\n", 3, func(r io.Reader) error { _, err := Questions{Format: Lines}.Read(r, 5); return err }},
		{`{"messages": [{"role": "user", "content": "`, 1, func(r io.Reader) error { _, err := Bodies{}.Read(r, 5); return err }},
		{azure2023 + "\n2023-11-16 18:15:51.2224670,", 5, func(r io.Reader) error { _, _, err := Trace{Format: Azure}.Read(r, 0); return err }},
		{mooncake + `{"hash_ids": [`, 4, func(r io.Reader) error { _, _, err := Trace{Format: Mooncake}.Read(r, 0); return err }},
		{"a\n", 2, func(r io.Reader) error { _, err := Sonnet{}.Read(r, 5); return err }},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := tt.read(&endless{tt.begin, '1', size})
		runtime.ReadMemStats(&after)
		assert.ErrorContains(t, err, fmt.Sprintf(": line %d: ", tt.line))
		assert.ErrorContains(t, err, "the record is longer than the limit of ")
		taken := after.TotalAlloc - before.TotalAlloc
		assert.Assert(t, taken < most, "%.40q…: %d MiB were allocated", tt.begin, taken>>20)
	}
}

// TestLongFile checks that reading a longer file does not need more memory. If the requests are in
// the order of the file, only the needed records must be read.
func TestLongFile(t *testing.T) {
	const records = 200000
	line := `{"question": "` + strings.Repeat("word ", 100) + `"}` + "\n"
	held := func(q Questions, n int) (heap uint64, read int) {
		r := &repeated{text: line, times: records}
		requests, err := q.Read(r, n)
		assert.NilError(t, err)
		assert.Equal(t, len(requests), n)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(requests)
		return m.HeapAlloc, records - r.times
	}
	few, read := held(Questions{Format: OpenQA}, 10)
	assert.Assert(t, read < 1000, "%d records were read", read)
	shuffled, read := held(Questions{Format: OpenQA, Seed: 1}, 10)
	assert.Equal(t, read, records)
	assert.Assert(t, shuffled < few+8<<20, "a long file takes %d MiB", (shuffled-few)>>20)
}

// repeated is a reader of a text that is repeated a number of times.
type repeated struct {
	text  string
	rest  string
	times int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.times == 0 {
			return 0, io.EOF
		}
		r.times--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
