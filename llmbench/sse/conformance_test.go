package sse

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// collectedCases returns the file of conformance cases that were collected from the
// test suites of other parsers. The file is not part of this repository; TestDecoder
// has fewer cases.
func collectedCases(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(extracases.Path(t, "sse-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type conformanceEvent struct {
	Event, Data, ID string
	DataRaw         []byte `json:"data_raw"`
	ByChunk         *int   `json:"by_chunk"`
}

// TestConformance runs conformance cases that were collected from the tests of other parsers and are not
// part of this repository. It omits cases about content types. Each body is read whole, in the chunks of
// the case, byte by byte, and split at every offset.
func TestConformance(t *testing.T) {
	text := collectedCases(t)
	var records []struct {
		Name, Class string
		ContentType string `json:"content_type"`
		Chunks      [][]byte
		Expect      []conformanceEvent
		Flush       []conformanceEvent `json:"expect_eof_flush"`
		Lines       []string           `json:"ndjson"`
	}
	if err := json.Unmarshal(text, &records); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, r := range records {
		if r.Class == "mime" {
			continue
		}
		ran++
		t.Run(r.Name, func(t *testing.T) {
			var stream []byte
			for _, c := range r.Chunks {
				stream = append(stream, c...)
			}
			// The decoder returns an event that is incomplete at the end of the body, and marks it.
			wanted := events(r.Expect)
			if r.Flush != nil {
				wanted = events(r.Flush)
				for i := len(r.Expect); i < len(wanted); i++ {
					wanted[i].Unterminated = true
				}
			}
			check := func(how string, src io.Reader) {
				t.Helper()
				got, err := decode(new(Decoder), src)
				if !slices.Equal(got, wanted) || err != io.EOF {
					t.Errorf("%s: %.200q has %+v, %v; want %+v", how, stream, got, err, wanted)
				}
			}
			check("whole", split(stream))
			check("byte by byte", iotest.OneByteReader(split(stream)))
			if len(stream) < 6000 {
				for i := range stream {
					check("split", split(stream, i))
				}
			}

			source := chunks(slices.Clone(r.Chunks))
			check("in the chunks of the case", &source)
			prompt(t, r.Chunks, r.Expect)
			if len(stream) < 6000 {
				promptBytes(t, stream, len(r.Expect))
			}

			if r.Lines == nil {
				return
			}
			wanted = nil
			for _, line := range r.Lines {
				wanted = append(wanted, want{Type: "message", Data: line})
			}
			if !bytes.HasSuffix(stream, []byte("\n")) {
				wanted[len(wanted)-1].Unterminated = true
			}
			for _, format := range []Format{FormatOf(r.ContentType), Auto} {
				for i := range stream {
					got, err := decode(&Decoder{Format: format}, split(stream, i))
					if !slices.Equal(got, wanted) || err != io.EOF {
						t.Fatalf("format %d, split at %d: %+v, %v; want %+v", format, i, got, err, wanted)
					}
				}
			}
		})
	}
	if ran == 0 {
		t.Error("sse-cases.json has no case of a framing class")
	}
}

// prompt checks that each event is returned before the decoder reads the chunk after
// the one that completes the event.
func prompt(t *testing.T, in [][]byte, expect []conformanceEvent) {
	source := chunks(slices.Clone(in))
	d := NewDecoder(&source)
	for _, e := range expect {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
		left := source
		for len(left) > 0 && len(left[0]) == 0 {
			left = left[1:]
		}
		if read := len(in) - len(left); e.ByChunk != nil && read > *e.ByChunk+1 && len(in) > 1 {
			t.Errorf("event %q needed %d chunks; want %d", e.Data, read, *e.ByChunk+1)
		}
	}
}

// promptBytes reads stream byte by byte and checks that each of its n events is
// returned at the byte that completes the blank line.
func promptBytes(t *testing.T, stream []byte, n int) {
	blank := func(b []byte) bool {
		end := string(b[max(0, len(b)-2):])
		return end == "\n\n" || end == "\r\r" || end == "\n\r"
	}
	left := bytes.NewReader(stream)
	d := NewDecoder(iotest.OneByteReader(left))
	for range n {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
		read := stream[:len(stream)-left.Len()]
		if !blank(read) || blank(read[:len(read)-1]) {
			t.Errorf("an event was returned after %q; want it at the end of the blank line", read[max(0, len(read)-40):])
		}
	}
}

func events(in []conformanceEvent) []want {
	var out []want
	for _, e := range in {
		w := want{Type: e.Event, Data: e.Data, ID: e.ID}
		if e.DataRaw != nil {
			w.Data = string(e.DataRaw)
		}
		out = append(out, w)
	}
	return out
}
