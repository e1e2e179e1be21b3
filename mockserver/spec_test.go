package mockserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestShapeSet(t *testing.T) {
	got := shaped(t, "crlf, ping,tokens-per-chunk=4,split-utf8,split-pause=2ms,usage-null")
	want := Shape{CRLF: true, Ping: true, TokensPerChunk: 4, Split: SplitUTF8, SplitPause: 2 * time.Millisecond, Usage: UsageNull}
	if got != want {
		t.Errorf("Set() = %+v, want %+v", got, want)
	}
	for list, want := range map[string]string{
		"":                     `shape "": not known, want lf, crlf, `,
		"crlf,curly":           `shape "curly": not known, want lf, `,
		"crlf=1":               `shape "crlf=1": want crlf`,
		"tokens-per-chunk=-1":  `shape tokens-per-chunk: "-1", want a number, 0 or more`,
		"split-pause=5":        `shape split-pause: "5", want a duration with a unit`,
		"events-per-write":     `shape "events-per-write": want events-per-write=N`,
		"reasoning-tokens=1e3": `shape reasoning-tokens: "1e3", want a number`,
	} {
		var s Shape
		if err := s.Set(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set(%q): %v, want %q", list, err, want)
		}
	}
}

// A profile says the same as the command line.
func TestShapeJSON(t *testing.T) {
	for _, n := range ShapeNames() {
		s := shaped(t, strings.NewReplacer("=N", "=3", "=DURATION", "=7ms").Replace(n.Name))
		text, err := json.Marshal(Config{Shape: s})
		if err != nil {
			t.Fatal(err)
		}
		var got Config
		if err := json.Unmarshal(text, &got); err != nil || got.Shape != s {
			t.Errorf("%s in JSON is %s, and again %+v, %v, want %+v", n.Name, text, got.Shape, err, s)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
}

func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"reset":                             {Kind: FaultReset, Every: 1},
		"reset,every=10,at=3":               {Kind: FaultReset, Every: 10, At: 3},
		" stall , share=0.25, seed=7":       {Kind: FaultStall, Share: 0.25, Seed: 7},
		"long-line,size=1048576":            {Kind: FaultLongLine, Every: 1, Size: 1 << 20},
		"http-429,every=18446744073709551":  {Kind: FaultHTTP429, Every: 18446744073709551},
		"fin,share=1,at=0,seed=18446744073": {Kind: FaultFIN, Share: 1, Seed: 18446744073},
	} {
		if got, err := ParseFault(text); err != nil || got != want {
			t.Errorf("ParseFault(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                        `fault "": kind: "", want http-400, `,
		"flood,every=2":           `kind: "flood", want http-400, `,
		"reset,every=0":           `every: 0, want 1 or more`,
		"reset,every=x":           `every: "x", want a number`,
		"reset,share=0":           `share: 0, want above 0 and up to 1`,
		"reset,share=NaN":         `share: NaN, want above 0 and up to 1`,
		"reset,every=2,share=0.5": `every: 2 with a share of 0.5, want one of the two`,
		"reset,at=-1":             `at: -1, want 0 or more`,
		"reset,size=-1":           `size: -1, want 0 (64 MiB) to 1073741824`,
		"reset,when=3":            `"when=3": want every, share, seed, at or size`,
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFault(%q): %v, want %q", text, err, want)
		}
	}
}
