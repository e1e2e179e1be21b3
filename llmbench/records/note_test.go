package records

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestNote checks that notes can be parsed from logs, and that other texts are not taken for notes.
func TestNote(t *testing.T) {
	for _, n := range []Note{
		{Kind: NoteConnections, Text: "15 of 16 requests had to open a connection"},
		{Kind: NoteClient, Doubt: true, Units: []string{"p99-itl-ns", "client-err-%", "tok/s(gpu,cpu)"}, Text: "the client may distort: p99-itl-ns 37% (at most 91%)\n  one read"},
		{Kind: NoteRate, Doubt: true, Text: "(5): 3.2 sent"},
	} {
		got, ok := ParseNote(n.String())
		assert.Assert(t, ok, n.String())
		assert.DeepEqual(t, got, n)
	}
	for _, text := range []string{"", "warning: p99-itl-ns is bad", "llmbench warns", "llmbench warns (client) it", "llmbench warns (): it", "llmbench warns (client):  ",
		"llmbench warns (client: ): it", "llmbench warns (client: a b): it", "llmbench doubts (client): it", " llmbench notes (rate): it", "llmbench notes (Rate): it"} {
		n, ok := ParseNote(text)
		assert.Assert(t, !ok, "%q is %v", text, n)
	}
}

// FuzzNote checks that a text that parses as a note is formatted in the same form.
func FuzzNote(f *testing.F) {
	f.Add("llmbench warns (client: p99-itl-ns, req/s): it")
	f.Add("llmbench notes (rate): it\n  more")
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := ParseNote(text); ok {
			assert.Equal(t, n.String(), text)
		}
	})
}

// TestEndNotes checks the notes in the line about the end.
func TestEndNotes(t *testing.T) {
	for _, c := range []struct{ notes, want string }{
		{`[{"kind":"client","doubt":true,"units":["req/s"],"text":"x"},{"kind":"of-a-later-release","text":"y","more":1}]`, ""},
		{`[{"kind":"","text":"x"}]`, "a note of the kind"},
		{`[{"kind":"client","text":" "}]`, "a note without a text"},
		{`[{"kind":"client","text":"x","units":["a b"]}]`, `about the unit "a b"`},
	} {
		run, err := Read(strings.NewReader(followHead+`{"end":{"outcome":"ok","notes":`+c.notes+`}}`+"\n"), "a.jsonl")
		if c.want != "" {
			assert.ErrorContains(t, err, c.want)
			continue
		}
		assert.NilError(t, err)
		assert.DeepEqual(t, run.End.Notes, []Note{{Kind: "client", Doubt: true, Units: []string{"req/s"}, Text: "x"}, {Kind: "of-a-later-release", Text: "y"}})
	}
}
