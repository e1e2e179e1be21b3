package shape

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Shape is what the answers of a mock server look like on the wire. The zero Shape is
// vLLM's: one event per token; lines that end in LF; a first chunk that has only the role,
// in the same write as the first token; a separate chunk for the usage.
//
// The fields about lines, comments and event names apply only to text/event-stream, not to
// Ollama's lines of JSON. The fields about chunks, choices and roles apply to OpenAI's chat
// completions, and to OpenAI's completions as far as that format has them. All other fields
// apply to every dialect.
type Shape struct {
	// TokensPerChunk is the number of tokens in one event; 0 means 1. An event is due when
	// its last token is due. TGI always has one event per token; there one write carries
	// this many events.
	TokensPerChunk int `json:"tokens_per_chunk,omitzero"`
	// StepChunks puts all tokens that a decode step has computed for the request into one
	// event, as vLLM and SGLang do. A step computes several tokens only with speculative
	// decoding; see [github.com/seed-2b9cec6d/llmbench/mockserver/engine.Profile]. Without an
	// engine a step has one token. StepChunks and TokensPerChunk must not both be set.
	StepChunks bool `json:"step_chunks,omitzero"`
	// EventsPerWrite is the number of events with tokens in one write, as if a proxy
	// buffered the stream; 0 means 1. The events are sent when the last of them is due.
	EventsPerWrite int `json:"events_per_write,omitzero"`
	// Split sends each write that carries tokens in two parts, SplitPause apart.
	// The server's log has the time of the second part.
	Split SplitMode `json:"split,omitzero"`
	// SplitPause is in real time: the server's speed does not change it. 0 means 5 ms.
	// In JSON it is a string that time.ParseDuration accepts.
	SplitPause time.Duration `json:"split_pause,omitzero"`

	// CRLF ends every line with CR LF. CR ends every line with CR alone. At most
	// one of the two may be set.
	CRLF bool `json:"crlf,omitzero"`
	CR   bool `json:"cr,omitzero"`
	// BOM puts a byte order mark before the first byte.
	BOM bool `json:"bom,omitzero"`
	// Ping puts a comment (": ping" and an empty line) before each event that
	// carries tokens, in the same write.
	Ping bool `json:"ping,omitzero"`
	// PingEvent puts an event named "ping" before each event that carries tokens.
	// Its data is a date, not JSON.
	PingEvent bool `json:"ping_event,omitzero"`
	// EventLines begins the stream with the blocks "retry: 3000" and "id: 0", which
	// have no data, and puts "id: n" and "event: message" before the data of each
	// event.
	EventLines bool `json:"event_lines,omitzero"`
	// NoSpace omits the space after "data:".
	NoSpace bool `json:"no_space,omitzero"`

	// Role is how a chat reports its role; empty means RoleEmpty.
	Role RoleMode `json:"role,omitzero"`
	// RoleFirst sends the chunk with only the role as soon as the request is
	// admitted, not together with the first token. In the Responses API, in Anthropic's
	// and in Cohere's, this applies to all events before the first token.
	RoleFirst bool `json:"role_first,omitzero"`
	// EmptyChoices adds two chunks with neither choices nor usage: one before all
	// others, one after the chunk with the finish reason.
	EmptyChoices bool `json:"empty_choices,omitzero"`
	// FinishAlone sends the finish reason in a separate chunk without text.
	FinishAlone bool `json:"finish_alone,omitzero"`
	// Usage says when a stream reports its token counts; empty means UsageAsked.
	// An answer that is not streamed always has them. UsageNever also removes the
	// details from TGI and MindIE and the counts from Ollama.
	Usage UsageMode `json:"usage,omitzero"`
	// Done says how often the stream sends [DONE], if the dialect has [DONE]; empty
	// means once.
	Done DoneMode `json:"done,omitzero"`
	// AfterDone sends more data after the end marker: an event with one more token, and
	// then half of another event. No token count includes this token, and the log does not
	// have it. AfterDone has no effect on streams without an end marker: the streams of
	// Triton, of vLLM's demonstration server and of MindIE's version of that server.
	AfterDone bool `json:"after_done,omitzero"`

	// Reasoning is the field that carries the first ReasoningTokens of a chat's
	// output: "reasoning" or "reasoning_content". Empty means that the whole output
	// is content. Ollama's /api/chat and the APIs of Anthropic and Cohere call the field
	// "thinking" in both cases, and Cohere's API "tool_plan" if a call follows; Gemini
	// marks the text as a thought.
	Reasoning string `json:"reasoning,omitzero"`
	// ReasoningTokens is at most the length of the output; 0 means half of the
	// output, rounded up.
	ReasoningTokens int `json:"reasoning_tokens,omitzero"`
	// ToolCall makes the rest of a chat's output one call of the function "speak".
	// The tokens are fragments of its arguments, {"text": "..."}. Ollama and Gemini
	// send the whole call when the last token is due.
	ToolCall bool `json:"tool_call,omitzero"`
	// NoFormat ignores the tools and schemas of a request, like a server that supports
	// neither.
	NoFormat bool `json:"no_format,omitzero"`
	// Incremental makes each event of SGLang's /generate carry only its own tokens.
	Incremental bool `json:"incremental,omitzero"`

	// Text says which characters the words of the output contain; empty means TextASCII.
	Text TextMode `json:"text,omitzero"`
	// Dumps spells JSON as Python's json.dumps does: a space after each comma and
	// colon, and \u escapes for characters outside ASCII.
	Dumps bool `json:"dumps,omitzero"`
	// Twice writes each key whose value is a string or a number twice: first with the
	// value "" or 0, then with the right value.
	Twice bool `json:"twice,omitzero"`
	// NumberStrings writes the token counts as strings.
	NumberStrings bool `json:"number_strings,omitzero"`
}

// A UsageMode says when a stream reports its token counts.
type UsageMode string

// The usage modes say where the token counts are. A request asks for them with
// stream_options.include_usage.
const (
	UsageAsked UsageMode = "asked" // in a separate chunk without choices, if the request asks for them
	UsageLast  UsageMode = "last"  // in the chunk with the finish reason, if the request asks for them
	UsageNever UsageMode = "never" // nowhere, even if the request asks for them
	UsageNull  UsageMode = "null"  // as UsageAsked, and "usage":null in all other chunks
	UsageEach  UsageMode = "each"  // as UsageAsked, and the counts so far in all other chunks, even if not asked for
)

// A RoleMode says how the stream of a chat reports its role.
type RoleMode string

// The role modes.
const (
	RoleEmpty RoleMode = "empty" // a first chunk with the role and content ""
	RoleNull  RoleMode = "null"  // a first chunk with the role and content null
	RoleBare  RoleMode = "bare"  // a first chunk with the role and no content field
	RoleNever RoleMode = "never" // not at all
	RoleEach  RoleMode = "each"  // in each chunk, together with the text
)

// A SplitMode says where a write is split.
type SplitMode string

// The split modes.
const (
	SplitJSON SplitMode = "json" // in the middle of the JSON of the first event with tokens
	SplitUTF8 SplitMode = "utf8" // inside the first event with tokens, after the first byte of a character; an empty Text then means TextUnicode
)

// A DoneMode says how often a stream sends [DONE].
type DoneMode string

// The done modes.
const (
	DoneOnce  DoneMode = "once"
	DoneNever DoneMode = "never"
	DoneTwice DoneMode = "twice"
)

// A TextMode says which characters the words of the output contain.
type TextMode string

// The text modes.
const (
	TextASCII   TextMode = "ascii"
	TextUnicode TextMode = "unicode"      // characters of two, three and four bytes
	TextNUL     TextMode = "nul"          // each word contains U+0000, written as the escape \u0000
	TextNULRaw  TextMode = "nul-raw"      // each word contains the byte 0, which JSON forbids
	TextInvalid TextMode = "invalid-utf8" // each word contains the byte FF or an incomplete character
)

// ChunkTokens returns TokensPerChunk with its default applied.
func (s Shape) ChunkTokens() int { return max(s.TokensPerChunk, 1) }

// WriteEvents returns EventsPerWrite with its default applied.
func (s Shape) WriteEvents() int { return max(s.EventsPerWrite, 1) }

// Pause returns SplitPause with its default applied.
func (s Shape) Pause() time.Duration { return cmp.Or(s.SplitPause, 5*time.Millisecond) }

// ReasoningOf returns how many of a chat's n output tokens are reasoning.
func (s Shape) ReasoningOf(n int) int {
	switch {
	case s.Reasoning == "":
		return 0
	case s.ReasoningTokens == 0:
		return (n + 1) / 2
	}
	return min(s.ReasoningTokens, n)
}

// TextMode returns Text with its default applied. The default depends on Split.
func (s Shape) TextMode() TextMode {
	switch {
	case s.Text != "":
		return s.Text
	case s.Split == SplitUTF8:
		return TextUnicode
	}
	return TextASCII
}

// LineEnd returns the bytes that end a line.
func (s Shape) LineEnd() string {
	switch {
	case s.CRLF:
		return "\r\n"
	case s.CR:
		return "\r"
	}
	return "\n"
}

// DataPrefix returns the bytes that begin a line of data.
func (s Shape) DataPrefix() string {
	if s.NoSpace {
		return "data:"
	}
	return "data: "
}

// Validate returns nil if the shape is valid. Otherwise the error begins with the JSON name
// of the first invalid field and gives the field's value and what is allowed.
func (s Shape) Validate() error {
	for _, f := range []struct {
		name  string
		value int
		zero  string // what 0 means
	}{
		{"tokens_per_chunk", s.TokensPerChunk, "one"},
		{"events_per_write", s.EventsPerWrite, "one"},
		{"reasoning_tokens", s.ReasoningTokens, "half"},
	} {
		if f.value < 0 {
			return fmt.Errorf("%s: %d: want 0 (%s) or more", f.name, f.value, f.zero)
		}
	}
	if s.SplitPause < 0 {
		return fmt.Errorf("split_pause: %v: want 0s (5ms) or more", s.SplitPause)
	}
	if s.StepChunks && s.TokensPerChunk > 0 {
		return fmt.Errorf("step_chunks: true and tokens_per_chunk: %d are both set: want only one", s.TokensPerChunk)
	}
	if s.CRLF && s.CR {
		return fmt.Errorf("cr and crlf are both true: want only one")
	}
	return cmp.Or(
		oneOf("reasoning", s.Reasoning, "reasoning", "reasoning_content"),
		oneOf("role", s.Role, RoleEmpty, RoleNull, RoleBare, RoleNever, RoleEach),
		oneOf("split", s.Split, SplitJSON, SplitUTF8),
		oneOf("done", s.Done, DoneOnce, DoneNever, DoneTwice),
		oneOf("text", s.Text, TextASCII, TextUnicode, TextNUL, TextNULRaw, TextInvalid),
		oneOf("usage", s.Usage, UsageAsked, UsageLast, UsageNever, UsageNull, UsageEach),
	)
}

// oneOf returns an error if the value of the named field is neither empty nor in the list
// of allowed values.
func oneOf[T ~string](name string, value T, allowed ...T) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	var list strings.Builder
	for i, a := range allowed {
		switch {
		case i > 0 && i == len(allowed)-1:
			list.WriteString(" or ")
		case i > 0:
			list.WriteString(", ")
		}
		list.WriteString(string(a))
	}
	return fmt.Errorf("%s: %q: want %s", name, value, list.String())
}
