package mockserver

import "fmt"

// A Shape is what a stream looks like on the wire. The zero Shape is that of
// vLLM: one event a token, lines that end in LF, a role-only chunk in the same
// write as the first token, usage in a chunk of its own.
type Shape struct {
	// TokensPerChunk is how many tokens one event carries; 0 means 1. The event
	// is due when its last token is.
	TokensPerChunk int `json:"tokens_per_chunk,omitzero"`
	// CRLF ends every line with CR LF.
	CRLF bool `json:"crlf,omitzero"`
	// Ping puts a comment, ": ping" and an empty line, before each event that
	// carries tokens, in the same write.
	Ping bool `json:"ping,omitzero"`
	// NoSpace leaves out the space after "data:".
	NoSpace bool `json:"no_space,omitzero"`
	// RoleFirst sends the role-only chunk of a chat, which has no text, as soon
	// as the request is admitted, and not together with the first token.
	RoleFirst bool `json:"role_first,omitzero"`
	// Usage says when a stream tells its token counts; empty means UsageAsked.
	// An answer that is not streamed always has them.
	Usage UsageMode `json:"usage,omitzero"`
}

// A UsageMode says when a stream tells its token counts.
type UsageMode string

// The usage modes.
const (
	UsageAsked UsageMode = "asked" // in a chunk of its own without choices, if include_usage was asked for
	UsageLast  UsageMode = "last"  // on the chunk with the finish reason, if include_usage was asked for
	UsageNever UsageMode = "never" // not even when asked for
)

// tokensPerChunk is TokensPerChunk with its default.
func (s Shape) tokensPerChunk() int { return max(s.TokensPerChunk, 1) }

// eol is what ends a line.
func (s Shape) eol() string {
	if s.CRLF {
		return "\r\n"
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
	if s.TokensPerChunk < 0 {
		return fmt.Errorf("tokens_per_chunk: %d, want 0 (one) or more", s.TokensPerChunk)
	}
	switch s.Usage {
	case "", UsageAsked, UsageLast, UsageNever:
		return nil
	}
	return fmt.Errorf("usage: %q, want %s, %s or %s", s.Usage, UsageAsked, UsageLast, UsageNever)
}
