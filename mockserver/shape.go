package mockserver

import (
	"fmt"
	"time"
)

// A Shape is what a stream looks like on the wire. The zero Shape is that of
// vLLM: one event a token, lines that end in LF, a role-only chunk in the same
// write as the first token, usage in a chunk of its own.
//
// What is said of lines, comments and event names holds for text/event-stream
// only, not for Ollama's lines of JSON nor for what else is no event. What is said of chunks, choices and
// roles holds for OpenAI's two endpoints, and of those for the one that has such
// a thing. The rest holds for every dialect.
type Shape struct {
	// TokensPerChunk is how many tokens one event carries; 0 means 1. The event
	// is due when its last token is. TGI, which has an event for each token, sends
	// so many in one write.
	TokensPerChunk int `json:"tokens_per_chunk,omitzero"`
	// EventsPerWrite is how many events with tokens go out in one write, as from
	// a proxy that buffers; 0 means 1. They are sent when the last of them is due.
	EventsPerWrite int `json:"events_per_write,omitzero"`
	// Split sends each write that carries tokens in two parts, SplitPause apart.
	// The instants in the log are those of the second part.
	Split SplitMode `json:"split,omitzero"`
	// SplitPause is real time, whatever Config.Speed is; 0 means 5 ms. In JSON it
	// is a string, like the durations of a Config.
	SplitPause time.Duration `json:"split_pause,omitzero"`

	// CRLF ends every line with CR LF, and CR with CR alone.
	CRLF bool `json:"crlf,omitzero"`
	CR   bool `json:"cr,omitzero"`
	// BOM puts a byte order mark before the first byte.
	BOM bool `json:"bom,omitzero"`
	// Ping puts a comment, ": ping" and an empty line, before each event that
	// carries tokens, in the same write.
	Ping bool `json:"ping,omitzero"`
	// PingEvent puts an event named ping there, whose data is a date and no JSON.
	PingEvent bool `json:"ping_event,omitzero"`
	// EventLines begins the stream with a block "retry: 3000" and a block "id: 0",
	// neither of which has data, and puts "id: n" and "event: message" before the
	// data of each event.
	EventLines bool `json:"event_lines,omitzero"`
	// NoSpace leaves out the space after "data:".
	NoSpace bool `json:"no_space,omitzero"`

	// Role is how a chat tells its role; empty means RoleEmpty.
	Role RoleMode `json:"role,omitzero"`
	// RoleFirst sends the role-only chunk of a chat, which has no text, as soon
	// as the request is admitted, and not together with the first token. In the
	// Responses API that are the four events before the first token.
	RoleFirst bool `json:"role_first,omitzero"`
	// EmptyChoices adds chunks with no choices and no usage: before all others,
	// and after the one with the finish reason.
	EmptyChoices bool `json:"empty_choices,omitzero"`
	// FinishAlone tells the finish reason in a chunk of its own without text.
	FinishAlone bool `json:"finish_alone,omitzero"`
	// Usage says when a stream tells its token counts; empty means UsageAsked.
	// An answer that is not streamed always has them. UsageNever also takes the
	// details from TGI and MindIE and the counts from Ollama.
	Usage UsageMode `json:"usage,omitzero"`
	// Done says how often the stream says [DONE], if its dialect does; empty
	// means once.
	Done DoneMode `json:"done,omitzero"`
	// AfterDone goes on after the end marker: an event with one more token, which
	// is in no count and not in the log, and half of the next. Triton's streams,
	// those of vLLM's demonstration and of MindIE's version of it have no such
	// marker, so there it does nothing.
	AfterDone bool `json:"after_done,omitzero"`

	// Reasoning is the field that carries the first ReasoningTokens of a chat's
	// output: "reasoning" or "reasoning_content". Empty means that all is content.
	// Ollama's /api/chat calls it "thinking", whichever is set.
	Reasoning string `json:"reasoning,omitzero"`
	// ReasoningTokens is cut to the output's length; 0 means half of it, rounded
	// up.
	ReasoningTokens int `json:"reasoning_tokens,omitzero"`
	// ToolCall makes the rest of a chat's output one call of the function "speak":
	// the tokens are fragments of its arguments, {"text": "..."}. Ollama sends the
	// call whole, when the last token is due.
	ToolCall bool `json:"tool_call,omitzero"`
	// NoFormat answers in words whatever tools or schema a request has, as servers
	// do that know neither.
	NoFormat bool `json:"no_format,omitzero"`
	// Incremental makes SGLang's /generate send in each event only what is new.
	Incremental bool `json:"incremental,omitzero"`

	// Text is what the words are made of; empty means ASCII.
	Text TextMode `json:"text,omitzero"`
	// Dumps spells JSON as Python's json.dumps does: a space after each comma and
	// colon, and \u escapes for what is not ASCII.
	Dumps bool `json:"dumps,omitzero"`
	// Twice has each key whose value is a string or a number twice in its object,
	// first with "" or 0. The last one counts.
	Twice bool `json:"twice,omitzero"`
	// NumberStrings makes the token counts strings.
	NumberStrings bool `json:"number_strings,omitzero"`
}

// A UsageMode says when a stream tells its token counts.
type UsageMode string

// The usage modes.
const (
	UsageAsked UsageMode = "asked" // in a chunk of its own without choices, if include_usage was asked for
	UsageLast  UsageMode = "last"  // on the chunk with the finish reason, if include_usage was asked for
	UsageNever UsageMode = "never" // not even when asked for
	UsageNull  UsageMode = "null"  // null on each chunk, then as UsageAsked
	UsageEach  UsageMode = "each"  // counts so far on each chunk, asked for or not, then as UsageAsked
)

// A RoleMode says how the stream of a chat tells its role.
type RoleMode string

// The role modes.
const (
	RoleEmpty RoleMode = "empty" // first a chunk with the role and content ""
	RoleNull  RoleMode = "null"  // first a chunk with the role and content null
	RoleBare  RoleMode = "bare"  // first a chunk with the role alone
	RoleNever RoleMode = "never" // nowhere
	RoleEach  RoleMode = "each"  // in each chunk, beside the text
)

// A SplitMode says where a write is split.
type SplitMode string

// The split modes.
const (
	SplitJSON SplitMode = "json" // in the middle of the JSON of its first event with tokens
	SplitUTF8 SplitMode = "utf8" // after the first byte of a character in there; Text is then TextUnicode unless set
)

// A DoneMode says how often a stream says [DONE].
type DoneMode string

// The done modes.
const (
	DoneOnce  DoneMode = "once"
	DoneNever DoneMode = "never"
	DoneTwice DoneMode = "twice"
)

// A TextMode says what the words of the output are made of.
type TextMode string

// The text modes.
const (
	TextASCII   TextMode = "ascii"
	TextUnicode TextMode = "unicode"      // characters of two, three and four bytes
	TextNUL     TextMode = "nul"          // U+0000 in each word, as the escape \u0000
	TextNULRaw  TextMode = "nul-raw"      // the byte 0 in each word, which JSON forbids
	TextInvalid TextMode = "invalid-utf8" // a byte FF or half a character in each word
)

// tokensPerChunk is TokensPerChunk with its default.
func (s Shape) tokensPerChunk() int { return max(s.TokensPerChunk, 1) }

// eventsPerWrite is EventsPerWrite with its default.
func (s Shape) eventsPerWrite() int { return max(s.EventsPerWrite, 1) }

// splitPause is SplitPause with its default.
func (s Shape) splitPause() time.Duration {
	if s.SplitPause == 0 {
		return 5 * time.Millisecond
	}
	return s.SplitPause
}

// reasoningTokens is how many of n tokens are reasoning.
func (s Shape) reasoningTokens(n int) int {
	switch {
	case s.Reasoning == "":
		return 0
	case s.ReasoningTokens == 0:
		return (n + 1) / 2
	}
	return min(s.ReasoningTokens, n)
}

// eol is what ends a line.
func (s Shape) eol() string {
	switch {
	case s.CRLF:
		return "\r\n"
	case s.CR:
		return "\r"
	}
	return "\n"
}

// data is what begins an event.
func (s Shape) data() string {
	if s.NoSpace {
		return "data:"
	}
	return "data: "
}

func (s Shape) validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"tokens_per_chunk", s.TokensPerChunk}, {"events_per_write", s.EventsPerWrite}} {
		if f.value < 0 {
			return fmt.Errorf("%s: %d, want 0 (one) or more", f.name, f.value)
		}
	}
	if s.ReasoningTokens < 0 {
		return fmt.Errorf("reasoning_tokens: %d, want 0 (half) or more", s.ReasoningTokens)
	}
	if s.SplitPause < 0 {
		return fmt.Errorf("split_pause: %v, want 0s (5ms) or more", s.SplitPause)
	}
	if s.CRLF && s.CR {
		return fmt.Errorf("cr: true with crlf, want one of the two")
	}
	switch s.Reasoning {
	case "", "reasoning", "reasoning_content":
	default:
		return fmt.Errorf("reasoning: %q, want reasoning or reasoning_content", s.Reasoning)
	}
	switch s.Role {
	case "", RoleEmpty, RoleNull, RoleBare, RoleNever, RoleEach:
	default:
		return fmt.Errorf("role: %q, want %s, %s, %s, %s or %s", s.Role, RoleEmpty, RoleNull, RoleBare, RoleNever, RoleEach)
	}
	switch s.Split {
	case "", SplitJSON, SplitUTF8:
	default:
		return fmt.Errorf("split: %q, want %s or %s", s.Split, SplitJSON, SplitUTF8)
	}
	switch s.Done {
	case "", DoneOnce, DoneNever, DoneTwice:
	default:
		return fmt.Errorf("done: %q, want %s, %s or %s", s.Done, DoneOnce, DoneNever, DoneTwice)
	}
	switch s.Text {
	case "", TextASCII, TextUnicode, TextNUL, TextNULRaw, TextInvalid:
	default:
		return fmt.Errorf("text: %q, want %s, %s, %s, %s or %s", s.Text, TextASCII, TextUnicode, TextNUL, TextNULRaw, TextInvalid)
	}
	switch s.Usage {
	case "", UsageAsked, UsageLast, UsageNever, UsageNull, UsageEach:
		return nil
	}
	return fmt.Errorf("usage: %q, want %s, %s, %s, %s or %s", s.Usage, UsageAsked, UsageLast, UsageNever, UsageNull, UsageEach)
}
