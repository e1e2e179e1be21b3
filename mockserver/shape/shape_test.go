package shape

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// set returns the shape that a list of names describes.
func set(t *testing.T, list string) Shape {
	t.Helper()
	var s Shape
	assert.NilError(t, s.Set(list))
	return s
}

func TestSet(t *testing.T) {
	got := set(t, "crlf, ping,tokens-per-chunk=4,split-utf8,split-pause=2ms,usage-null")
	want := Shape{CRLF: true, Ping: true, TokensPerChunk: 4, Split: SplitUTF8, SplitPause: 2 * time.Millisecond, Usage: UsageNull}
	assert.Equal(t, got, want)
	for list, want := range map[string]string{
		"":                     `shape "": not known: want one of lf, crlf, `,
		"crlf,curly":           `shape "curly": not known: want one of lf, `,
		"crlf=1":               `shape "crlf=1": want crlf`,
		"tokens-per-chunk=-1":  `shape tokens-per-chunk: "-1": want a number, 0 or more`,
		"split-pause=5":        `shape split-pause: "5": want a duration with a unit`,
		"events-per-write":     `shape "events-per-write": want events-per-write=N`,
		"reasoning-tokens=1e3": `shape reasoning-tokens: "1e3": want a number`,
	} {
		var s Shape
		assert.ErrorContains(t, s.Set(list), want)
	}
}

// Each name gives a valid shape, which survives a round trip through JSON.
func TestJSON(t *testing.T) {
	for name := range Names() {
		s := set(t, strings.NewReplacer("=N", "=3", "=DURATION", "=7ms").Replace(name))
		assert.NilError(t, s.Validate())
		text, err := json.Marshal(s)
		assert.NilError(t, err)
		var got Shape
		assert.NilError(t, json.Unmarshal(text, &got), "%s", text)
		assert.Equal(t, got, s, "%s", text)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{Shape{TokensPerChunk: -1}, "tokens_per_chunk: -1: want 0 (one) or more"},
		{Shape{EventsPerWrite: -1}, "events_per_write: -1: want 0 (one) or more"},
		{Shape{ReasoningTokens: -1}, "reasoning_tokens: -1: want 0 (half) or more"},
		{Shape{SplitPause: -1}, "split_pause: -1ns: want 0s (5ms) or more"},
		{Shape{CRLF: true, CR: true}, "cr and crlf are both true: want only one"},
		{Shape{StepChunks: true, TokensPerChunk: 2}, "step_chunks: true and tokens_per_chunk: 2 are both set: want only one"},
		{Shape{Reasoning: "thinking"}, `reasoning: "thinking": want reasoning or reasoning_content`},
		{Shape{Role: "first"}, `role: "first": want empty, null, bare, never or each`},
		{Shape{Usage: "always"}, `usage: "always": want asked, last, never, null or each`},
	} {
		assert.Error(t, c.shape.Validate(), c.want)
	}
}
