package ssetest

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// TestReference checks that the hand-written cases and the reference decoder agree.
func TestReference(t *testing.T) {
	names := map[string]bool{}
	for _, c := range allCases() {
		t.Run(c.class+"/"+c.name, func(t *testing.T) {
			if id := c.class + "/" + c.name; names[id] || c.name == "" || c.why == "" {
				t.Errorf("the case lacks a unique name or a reason")
			} else {
				names[id] = true
			}
			got := reference([]byte(c.stream))
			if d := differ(Options{}, got.events, c.want); d != "" {
				t.Errorf("events of %s: %s", quote(c.stream), d)
			}
			var gotTail, wantTail []Event
			if got.tail != nil {
				gotTail = []Event{*got.tail}
			}
			if c.tail != nil {
				wantTail = []Event{*c.tail}
			}
			if c.err == nil {
				if d := differ(Options{}, gotTail, wantTail); d != "" {
					t.Errorf("tail of %s: %s", quote(c.stream), d)
				}
			}
			if len(got.ends) != len(got.events) {
				t.Errorf("%d ends of %d events", len(got.ends), len(got.events))
			}
			if len(c.stream) > shortBody {
				return
			}
			// An event is complete at the first byte at which the reference dispatches it.
			for n := range len(c.stream) + 1 {
				complete := 0
				for _, end := range got.ends {
					if end <= n {
						complete++
					}
				}
				if part := reference([]byte(c.stream[:n])); len(part.events) != complete {
					t.Errorf("%q has %d events; want %d according to the ends %v", c.stream[:n], len(part.events), complete, got.ends)
				}
			}
		})
	}
	if len(names) < 120 {
		t.Errorf("%d cases; want 120 or more", len(names))
	}
}

func TestDecodeUTF8(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"aé日😀", "aé日😀"},
		{"\xff", "\ufffd"},
		{"a\xe2\x82b", "a\ufffdb"},
		{"\xe2\x82", "\ufffd"},
		{"\xf0\x9f\x98\xf0\x9f\x98\x80", "\ufffd😀"},
		{"\xc0\xaf", "\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},
		{"\xe2\xe2\x82\xac", "\ufffd€"},
		{"\ufeffa", "\ufeffa"},
	} {
		if got := decodeUTF8([]byte(c.in)); got != c.want {
			t.Errorf("decodeUTF8(%q) = %q; want %q", c.in, got, c.want)
		}
	}
}

// TestReferenceAgreesWithCollectedCases runs the reference decoder on cases that
// were collected from the test suites of other parsers. They are not part of this
// repository; TestReference has fewer cases.
func TestReferenceAgreesWithCollectedCases(t *testing.T) {
	text, err := os.ReadFile(extracases.Path(t, "sse-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		Event, Data, ID string
		Retry           *int
		ByChunk         *int `json:"by_chunk"`
	}
	var records []struct {
		Name, Class string
		Chunks      [][]byte
		Expect      []event
		Flush       []event `json:"expect_eof_flush"`
		Reconnect   *int    `json:"reconnect_ms"`
	}
	if err := json.Unmarshal(text, &records); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, r := range records {
		if r.Class != "spec" && r.Class != "limits" && r.Class != "utf8" {
			continue
		}
		ran++
		t.Run(r.Name, func(t *testing.T) {
			var stream []byte
			for _, c := range r.Chunks {
				stream = append(stream, c...)
			}
			got := reference(stream)
			events := func(in []event) (out []Event) {
				for _, e := range in {
					out = append(out, Event{Type: e.Event, Data: e.Data, ID: e.ID})
				}
				return out
			}
			if d := differ(Options{NoRetry: true}, got.events, events(r.Expect)); d != "" {
				t.Errorf("%s: %s", quote(string(stream)), d)
			}
			if r.Flush != nil {
				all := expected(Options{EOF: Flush}, got.events, got.tail, 0, nil)
				if d := differ(Options{NoRetry: true}, all, events(r.Flush)); d != "" {
					t.Errorf("%s, flushed: %s", quote(string(stream)), d)
				}
			} else if got.tail != nil {
				t.Errorf("%s: %s is pending; want nothing", quote(string(stream)), show(Options{}, *got.tail))
			}
			for i, e := range r.Expect {
				if e.ByChunk == nil || i >= len(got.ends) {
					continue
				}
				before, through := 0, 0
				for _, c := range r.Chunks[:*e.ByChunk] {
					before += len(c)
				}
				through = before + len(r.Chunks[*e.ByChunk])
				if end := got.ends[i]; end <= before || end > through {
					t.Errorf("event %d is complete after %d bytes; want within chunk %d, (%d, %d]", i, end, *e.ByChunk, before, through)
				}
			}
			if r.Reconnect != nil && *r.Reconnect <= longestRetry {
				// An event that is appended to the stream has the last reconnection time.
				more := reference(append(stream, "\n\ndata\n\n"...))
				last := more.events[len(more.events)-1]
				if want := time.Duration(*r.Reconnect) * time.Millisecond; last.Retry != want {
					t.Errorf("reconnection time %v; want %v", last.Retry, want)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("sse-cases.json has no case of a framing class")
	}
}
