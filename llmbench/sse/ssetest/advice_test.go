package ssetest

import (
	"bytes"
	"cmp"
	"flag"
	"io"
	"testing"

	"gotest.tools/v3/assert"
)

// TestOneCause checks that a parser that does not know a bare CR breaks the rules of one class. The cases of all other
// classes are wrong for the same reason.
func TestOneCause(t *testing.T) {
	d := flawed{lfOnly: true}.decode
	s := findings{kit: newKit(d, Options{}), broken: []string{"lines"}}
	classes := map[string]int{}
	for _, c := range runnables() {
		if c.stream != "" && checkBody(d, Options{}, []byte(c.stream), 0, 0) != nil {
			classes[s.causeOf(c)]++
		}
	}
	assert.Equal(t, len(classes), 1, "%v", classes)
	assert.Assert(t, classes["lines"] > 10, "%v", classes)
	TestDecoder(t, d, Options{Gaps: []string{"lines", "late"}}) // it waits for the LF of a CRLF
}

// TestCauseOfMark checks that a byte order mark is blamed on the class "bom", also one that is not at the beginning.
func TestCauseOfMark(t *testing.T) {
	drops := func(body io.Reader, emit func(Event)) error { // each mark at the beginning of a line
		all, err := io.ReadAll(body)
		all = bytes.ReplaceAll(bytes.TrimPrefix(all, []byte("\ufeff")), []byte("\n\ufeff"), []byte("\n"))
		return cmp.Or(err, (flawed{}).decode(bytes.NewReader(all), emit))
	}
	keeps := flawed{keepsBOM: true}.decode
	for _, body := range []string{"\ufeffdata: a\n\n", "\ufeff\ufeffdata: a\n\n", "\n\ufeffdata: a\n\n", "\ufeff\n\ufeffdata: é\n\n", "\ufeff\n\n\ufeffdata: b\rdata: c\n\n"} {
		for name, d := range map[string]Decode{"drops": drops, "keeps": keeps} {
			o := Options{NoPrompt: true}
			if checkBody(d, o, []byte(body), 0, 0) != nil {
				assert.Equal(t, cause(d, o, []byte(body), 0), "bom", "%s: %q", name, body)
			}
		}
	}
}

// TestLacking checks which options are advised.
func TestLacking(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	all := flawed{}.decode
	without := func(change func(*Event)) Decode {
		return func(body io.Reader, emit func(Event)) error {
			return all(body, func(e Event) { change(&e); emit(e) })
		}
	}
	for _, c := range []struct {
		name   string
		d      Decode
		o      Options
		want   Options
		passes bool // the decoder has no other flaw
	}{
		{"no reconnection time", without(func(e *Event) { e.Retry = 0 }), Options{}, Options{NoRetry: true}, true},
		{"no ID", without(func(e *Event) { e.ID = "" }), Options{}, Options{NoID: true}, true},
		{"no type", without(func(e *Event) { e.Type = "" }), Options{}, Options{NoType: true}, true},
		{"flushes", flawed{flushes: true}.decode, Options{}, Options{EOF: Flush}, true},
		{"a limit", flawed{limit: 60 << 10}.decode, Options{}, Options{MaxEventSize: 64 << 10}, true},
		{"as declared", flawed{flushes: true, limit: 60 << 10}.decode, Options{EOF: Flush, MaxEventSize: 64 << 10}, Options{EOF: Flush, MaxEventSize: 64 << 10}, true},
		{"takes any retry", flawed{badRetry: true}.decode, Options{}, Options{}, false},
		{"forgets the ID", flawed{forgetsID: true}.decode, Options{}, Options{}, false},
		{"loses long lines", func(body io.Reader, emit func(Event)) error { scanner(64<<10)(body, emit); return nil }, Options{}, Options{NoType: true, NoID: true, NoRetry: true}, false},
	} {
		var s findings
		s.kit = newKit(s.features.watch(c.d), c.o)
		for _, r := range runnables() {
			if r.run(s.kit).Err != nil {
				s.failed = append(s.failed, r)
			}
		}
		got, lacks := s.lacking()
		assert.DeepEqual(t, got, c.want)
		assert.Equal(t, len(lacks) > 0, got.String() != c.o.String(), c.name)
		_, broken := s.again(got)
		assert.Equal(t, len(broken) == 0, c.passes, "%s: %v", c.name, broken)
	}
}

func TestOptionsString(t *testing.T) {
	assert.Equal(t, Options{}.String(), "ssetest.Options{}")
	o := Options{NoType: true, NoPrompt: true, EOF: Mark, MaxEventSize: 9, Gaps: []string{"a", "b/c"}}
	assert.Equal(t, o.String(), `ssetest.Options{NoType: true, NoPrompt: true, EOF: ssetest.Mark, MaxEventSize: 9, Gaps: []string{"a", "b/c"}}`)
}

// TestMinimizeBriefly checks that fuzzing does not stall, unless the user wants it otherwise.
func TestMinimizeBriefly(t *testing.T) {
	f := flag.Lookup("test.fuzzminimizetime")
	before := f.Value.String()
	given := false
	flag.Visit(func(g *flag.Flag) { given = given || g == f })
	minimizeBriefly()
	if given {
		assert.Equal(t, f.Value.String(), before)
	} else {
		assert.Equal(t, f.Value.String(), "10x")
	}
	assert.NilError(t, flag.Set(f.Name, "7x"))
	minimizeBriefly()
	assert.Equal(t, f.Value.String(), "7x")
}
