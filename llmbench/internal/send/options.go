package send

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Options say how to ask for answers and how to read them.
type Options struct {
	Stream      bool
	Timeout     time.Duration // for a request, from the send
	IdleTimeout time.Duration // between two signs of life of a stream; see idleTimer
	KeepText    bool          // samples contain the answer
	Tokenizer   Tokenizer     // counts the output tokens if the server does not report them; may be nil
	// Compared is the number of requests of a pass whose text the Tokenizer counts even if the server
	// reports the tokens, so that the two numbers can be compared.
	Compared int
}

// A Tokenizer counts the tokens of a text. Only one goroutine at a time calls Count.
type Tokenizer interface{ Count(text string) int }

// keepsText reports whether the text of an answer must be kept until the request has ended.
func (o *Options) keepsText() bool { return o.Tokenizer != nil || o.KeepText }

// counts reports whether the Tokenizer must count the text of s, whose request was successful.
func (o *Options) counts(s *sample.Sample) bool {
	return s.TokenSource == sample.FromTokenizer || o.Tokenizer != nil && s.TokenSource == sample.FromUsage && s.Request < o.Compared
}
