package mockserver

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseFault reads a fault as the command line has it, its kind and then what
// else is set: "reset", "reset,every=10,at=3", "stall,share=0.05,seed=7" or
// "long-line,size=1048576". Without every and share it hits every request. The
// result is valid; the error names what cannot be used.
func ParseFault(text string) (Fault, error) {
	kind, rest, _ := strings.Cut(text, ",")
	f := Fault{Kind: FaultKind(strings.TrimSpace(kind))}
	for part := range strings.SplitSeq(rest, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "every":
			f.Every, err = strconv.Atoi(value)
			if err == nil && f.Every < 1 {
				return Fault{}, fmt.Errorf("fault %q: every: %d, want 1 or more", text, f.Every)
			}
		case "share":
			f.Share, err = strconv.ParseFloat(value, 64)
			if err == nil && !(f.Share > 0 && f.Share <= 1) {
				return Fault{}, fmt.Errorf("fault %q: share: %v, want above 0 and up to 1", text, f.Share)
			}
		case "seed":
			f.Seed, err = strconv.ParseUint(value, 10, 64)
		case "at":
			f.At, err = strconv.Atoi(value)
		case "size":
			f.Size, err = strconv.ParseInt(value, 10, 64)
		default:
			return Fault{}, fmt.Errorf("fault %q: %q: want every, share, seed, at or size", text, part)
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %s: %q, want a number", text, key, value)
		}
	}
	if f.Every == 0 && f.Share == 0 {
		f.Every = 1
	}
	if err := f.validate(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// A shapeName is one name of a shape and what it sets.
type shapeName struct {
	name, value, doc string // value is what stands after "=", empty for nothing
	set              func(s *Shape, value string) error
}

// named is a shapeName that takes no value.
func named(name, doc string, set func(*Shape)) shapeName {
	return shapeName{name, "", doc, func(s *Shape, _ string) error { set(s); return nil }}
}

// count is a shapeName that takes a number.
func count(name, doc string, field func(*Shape) *int) shapeName {
	return shapeName{name, "N", doc, func(s *Shape, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%q, want a number, 0 or more", value)
		}
		*field(s) = n
		return nil
	}}
}

var shapeNames = []shapeName{
	named("lf", "lines end in LF", func(s *Shape) { s.CRLF, s.CR = false, false }),
	named("crlf", "lines end in CR LF", func(s *Shape) { s.CRLF = true }),
	named("cr", "lines end in CR", func(s *Shape) { s.CR = true }),
	named("no-space", "no space after data:", func(s *Shape) { s.NoSpace = true }),
	named("bom", "a byte order mark before everything", func(s *Shape) { s.BOM = true }),
	named("ping", "a comment before each event that carries tokens", func(s *Shape) { s.Ping = true }),
	named("ping-event", "an event named ping, with a date, before each event that carries tokens", func(s *Shape) { s.PingEvent = true }),
	named("event-lines", "retry: and id: blocks without data at the start, and id: and event: lines before each data:", func(s *Shape) { s.EventLines = true }),
	named("role-empty", `first a chunk with the role and content ""`, func(s *Shape) { s.Role = RoleEmpty }),
	named("role-null", "first a chunk with the role and content null", func(s *Shape) { s.Role = RoleNull }),
	named("role-bare", "first a chunk with the role and no content at all", func(s *Shape) { s.Role = RoleBare }),
	named("role-never", "no role anywhere, the first chunk has text", func(s *Shape) { s.Role = RoleNever }),
	named("role-each", "the role in each chunk, the first has text", func(s *Shape) { s.Role = RoleEach }),
	named("role-first", "the chunk with the role is sent on admission, not with the first token", func(s *Shape) { s.RoleFirst = true }),
	named("empty-choices", "a chunk with no choices and no usage first, and another after the finish reason", func(s *Shape) { s.EmptyChoices = true }),
	named("finish-alone", "the finish reason in a chunk of its own, after the last token's", func(s *Shape) { s.FinishAlone = true }),
	named("usage-asked", "usage in a chunk without choices, if it was asked for", func(s *Shape) { s.Usage = UsageAsked }),
	named("usage-last", "usage on the chunk with the finish reason, if it was asked for", func(s *Shape) { s.Usage = UsageLast }),
	named("usage-never", "no usage", func(s *Shape) { s.Usage = UsageNever }),
	named("usage-null", "usage null on each chunk, and then as asked for", func(s *Shape) { s.Usage = UsageNull }),
	named("usage-each", "running usage on each chunk, and then as asked for", func(s *Shape) { s.Usage = UsageEach }),
	count("tokens-per-chunk", "so many tokens in a chunk", func(s *Shape) *int { return &s.TokensPerChunk }),
	count("events-per-write", "so many events with tokens in one write, sent when the last is due", func(s *Shape) *int { return &s.EventsPerWrite }),
	named("split-json", "each write in two, split in the middle of an event's JSON", func(s *Shape) { s.Split = SplitJSON }),
	named("split-utf8", "each write in two, split inside a character; the text is not ASCII", func(s *Shape) { s.Split = SplitUTF8 }),
	{"split-pause", "DURATION", "the time between the two writes (5ms)", func(s *Shape, value string) (err error) {
		if s.SplitPause, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("%q, want a duration with a unit, as in 5ms", value)
		}
		return nil
	}},
	named("reasoning", "a part of the output is in the field reasoning", func(s *Shape) { s.Reasoning = "reasoning" }),
	named("reasoning-content", "a part of the output is in the field reasoning_content", func(s *Shape) { s.Reasoning = "reasoning_content" }),
	count("reasoning-tokens", "how long that part is (half the output)", func(s *Shape) *int { return &s.ReasoningTokens }),
	named("tool-call", "the output is the arguments of a tool call", func(s *Shape) { s.ToolCall = true }),
	named("no-format", "tools and schemas that a request has are ignored", func(s *Shape) { s.NoFormat = true }),
	named("done-never", "no [DONE]", func(s *Shape) { s.Done = DoneNever }),
	named("done-twice", "[DONE] twice", func(s *Shape) { s.Done = DoneTwice }),
	named("after-done", "another token and half an event after the end marker", func(s *Shape) { s.AfterDone = true }),
	named("dumps", `JSON as Python's json.dumps writes it: a space after "," and ":", and \u escapes`, func(s *Shape) { s.Dumps = true }),
	named("twice", "each key with a string or a number twice, with the empty string or 0 first", func(s *Shape) { s.Twice = true }),
	named("number-strings", "token counts are strings", func(s *Shape) { s.NumberStrings = true }),
	named("unicode", "text of two, three and four byte characters", func(s *Shape) { s.Text = TextUnicode }),
	named("nul", `U+0000 in the text, as the escape \u0000`, func(s *Shape) { s.Text = TextNUL }),
	named("nul-raw", "a NUL byte in the text, which JSON does not allow", func(s *Shape) { s.Text = TextNULRaw }),
	named("invalid-utf8", "bytes in the text that are not UTF-8", func(s *Shape) { s.Text = TextInvalid }),
	named("incremental", "SGLang's /generate sends what is new, not the whole text again", func(s *Shape) { s.Incremental = true }),
}

// ShapeNames lists what [Shape.Set] takes. A name that ends in "=N" or
// "=DURATION" takes such a value.
func ShapeNames() []Name {
	names := make([]Name, len(shapeNames))
	for i, n := range shapeNames {
		names[i] = Name{n.name, n.doc}
		if n.value != "" {
			names[i].Name += "=" + n.value
		}
	}
	return names
}

// Set changes what the names in a comma list say, as the command line has them:
// "crlf,ping,tokens-per-chunk=4". The error names the one that is not known, or
// its value. It does not look at what the names mean together.
func (s *Shape) Set(list string) error {
next:
	for part := range strings.SplitSeq(list, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(part), "=")
		for _, n := range shapeNames {
			if n.name != name {
				continue
			}
			if has != (n.value != "") {
				return fmt.Errorf("shape %q: want %s", part, strings.TrimSuffix(n.name+"="+n.value, "="))
			}
			if err := n.set(s, value); err != nil {
				return fmt.Errorf("shape %s: %w", name, err)
			}
			continue next
		}
		return fmt.Errorf("shape %q: not known, want %s", name, oneOf(ShapeNames()))
	}
	return nil
}

// oneOf joins names for an error message.
func oneOf(names []Name) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(n.Name)
	}
	return b.String()
}
