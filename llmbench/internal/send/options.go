package send

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Options say how answers are asked for and read.
type Options struct {
	Stream      bool
	Timeout     time.Duration // of a request, from the send
	IdleTimeout time.Duration // between two events of a stream
	KeepText    bool          // each sample has the answer
	Tokenizer   Tokenizer     // counts the output tokens of servers that do not state them; or nil
	// Compared is how many requests of a pass have their text counted by the Tokenizer although the server
	// states their tokens.
	Compared int
}

// A Tokenizer counts the tokens of a text. One goroutine at a time calls Count.
type Tokenizer interface{ Count(text string) int }

// keepsText reports whether the text of each answer is kept until its request has ended.
func (o *Options) keepsText() bool { return o.Tokenizer != nil || o.KeepText }

// counts reports whether the Tokenizer counts the text of s, whose request has ended well.
func (o *Options) counts(s *sample.Sample) bool {
	return s.TokenSource == sample.FromTokenizer || o.Tokenizer != nil && s.TokenSource == sample.FromUsage && s.Request < o.Compared
}
