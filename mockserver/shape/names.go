package shape

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// A setting is a name that Set accepts, with the change that the name makes.
type setting struct {
	name, value, doc string // value is the placeholder after "=", empty for no value
	set              func(s *Shape, value string) error
}

// flag returns a setting without a value.
func flag(name, doc string, set func(*Shape)) setting {
	return setting{name, "", doc, func(s *Shape, _ string) error { set(s); return nil }}
}

// number returns a setting with a number as its value.
func number(name, doc string, field func(*Shape) *int) setting {
	return setting{name, "N", doc, func(s *Shape, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%q: want a number, 0 or more", value)
		}
		*field(s) = n
		return nil
	}}
}

var settings = []setting{
	flag("lf", "lines end in LF", func(s *Shape) { s.CRLF, s.CR = false, false }),
	flag("crlf", "lines end in CR LF", func(s *Shape) { s.CRLF = true }),
	flag("cr", "lines end in CR", func(s *Shape) { s.CR = true }),
	flag("no-space", "no space after data:", func(s *Shape) { s.NoSpace = true }),
	flag("bom", "a byte order mark before the first byte", func(s *Shape) { s.BOM = true }),
	flag("ping", "a comment before each event with tokens", func(s *Shape) { s.Ping = true }),
	flag("ping-event", "an event named ping, whose data is a date, before each event with tokens", func(s *Shape) { s.PingEvent = true }),
	flag("event-lines", "blocks with retry: and id: but without data at the start, and id: and event: lines before each data:", func(s *Shape) { s.EventLines = true }),
	flag("role-empty", `a first chunk with the role and content ""`, func(s *Shape) { s.Role = RoleEmpty }),
	flag("role-null", "a first chunk with the role and content null", func(s *Shape) { s.Role = RoleNull }),
	flag("role-bare", "a first chunk with the role and no content field", func(s *Shape) { s.Role = RoleBare }),
	flag("role-never", "no role anywhere; the first chunk has text", func(s *Shape) { s.Role = RoleNever }),
	flag("role-each", "the role in each chunk; the first chunk has text", func(s *Shape) { s.Role = RoleEach }),
	flag("role-first", "the chunk with the role is sent on admission, not with the first token", func(s *Shape) { s.RoleFirst = true }),
	flag("empty-choices", "a chunk with neither choices nor usage first, and another after the finish reason", func(s *Shape) { s.EmptyChoices = true }),
	flag("finish-alone", "the finish reason in a chunk of its own, after the last token", func(s *Shape) { s.FinishAlone = true }),
	flag("usage-asked", "usage in a chunk without choices, if the request asks for it", func(s *Shape) { s.Usage = UsageAsked }),
	flag("usage-last", "usage on the chunk with the finish reason, if the request asks for it", func(s *Shape) { s.Usage = UsageLast }),
	flag("usage-never", "no usage", func(s *Shape) { s.Usage = UsageNever }),
	flag("usage-null", "usage null on each chunk, then as usage-asked", func(s *Shape) { s.Usage = UsageNull }),
	flag("usage-each", "the usage so far on each chunk, then as usage-asked", func(s *Shape) { s.Usage = UsageEach }),
	number("tokens-per-chunk", "N tokens in each chunk", func(s *Shape) *int { return &s.TokensPerChunk }),
	flag("step-chunks", "all tokens of a decode step in one chunk; with speculative decoding a step has several", func(s *Shape) { s.StepChunks = true }),
	number("events-per-write", "N events with tokens in each write, sent when the last is due", func(s *Shape) *int { return &s.EventsPerWrite }),
	flag("split-json", "each write in two parts, split in the middle of an event's JSON", func(s *Shape) { s.Split = SplitJSON }),
	flag("split-utf8", "each write in two parts, split inside a character; the text is not ASCII", func(s *Shape) { s.Split = SplitUTF8 }),
	{"split-pause", "DURATION", "the time between the two parts (5ms)", func(s *Shape, value string) (err error) {
		if s.SplitPause, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("%q: want a duration with a unit, as in 5ms", value)
		}
		return nil
	}},
	flag("reasoning", "a part of the output in the field reasoning", func(s *Shape) { s.Reasoning = "reasoning" }),
	flag("reasoning-content", "a part of the output in the field reasoning_content", func(s *Shape) { s.Reasoning = "reasoning_content" }),
	number("reasoning-tokens", "the reasoning has N tokens (half of the output)", func(s *Shape) *int { return &s.ReasoningTokens }),
	flag("tool-call", "the output is the arguments of a tool call", func(s *Shape) { s.ToolCall = true }),
	flag("no-format", "tools and schemas of a request are ignored", func(s *Shape) { s.NoFormat = true }),
	flag("done-never", "no [DONE]", func(s *Shape) { s.Done = DoneNever }),
	flag("done-twice", "[DONE] twice", func(s *Shape) { s.Done = DoneTwice }),
	flag("after-done", "one more token and half of an event after the end marker", func(s *Shape) { s.AfterDone = true }),
	flag("dumps", `JSON as Python's json.dumps writes it: a space after "," and ":", and \u escapes`, func(s *Shape) { s.Dumps = true }),
	flag("twice", "each key with a string or a number twice, first with an empty string or 0", func(s *Shape) { s.Twice = true }),
	flag("number-strings", "token counts as strings", func(s *Shape) { s.NumberStrings = true }),
	flag("unicode", "text of characters of two, three and four bytes", func(s *Shape) { s.Text = TextUnicode }),
	flag("nul", `U+0000 in the text, as the escape \u0000`, func(s *Shape) { s.Text = TextNUL }),
	flag("nul-raw", "a NUL byte in the text, which JSON does not allow", func(s *Shape) { s.Text = TextNULRaw }),
	flag("invalid-utf8", "bytes in the text that are not UTF-8", func(s *Shape) { s.Text = TextInvalid }),
	flag("incremental", "each event of SGLang's /generate has only its own tokens", func(s *Shape) { s.Incremental = true }),
}

// usage returns the name of the setting, with "=" and the placeholder if it needs a value.
func (s setting) usage() string {
	if s.value == "" {
		return s.name
	}
	return s.name + "=" + s.value
}

// Names yields each name that [Shape.Set] accepts and a description of the name's effect. A
// name that ends in "=N" or "=DURATION" needs a value of this kind.
func Names() iter.Seq2[string, string] {
	return func(yield func(name, doc string) bool) {
		for _, s := range settings {
			if !yield(s.usage(), s.doc) {
				return
			}
		}
	}
}

// Set applies a comma-separated list of names in order, such as
// "crlf,ping,tokens-per-chunk=4". If a name is unknown or its value is invalid, Set returns
// an error; the names before it have been applied. Set does not validate the result.
func (s *Shape) Set(list string) error {
	for part := range strings.SplitSeq(list, ",") {
		if err := s.set(strings.TrimSpace(part)); err != nil {
			return err
		}
	}
	return nil
}

// set applies one name.
func (s *Shape) set(text string) error {
	name, value, hasValue := strings.Cut(text, "=")
	var names []string
	for _, known := range settings {
		names = append(names, known.usage())
		if known.name != name {
			continue
		}
		if hasValue != (known.value != "") {
			return fmt.Errorf("shape %q: want %s", text, known.usage())
		}
		if err := known.set(s, value); err != nil {
			return fmt.Errorf("shape %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("shape %q: not known: want one of %s", name, strings.Join(names, ", "))
}
