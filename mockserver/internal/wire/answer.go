package wire

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
)

// An Answer has the data that an encoder needs for one answer.
type Answer struct {
	*frame.Framer
	Request Request
	Words   *vocab.Lexicon // the words of the output
	Ordinal uint64         // of the request
	Created time.Time
	Model   string           // as a JSON string
	Now     func() time.Time // the time of day
	// Due is when each token is due, from admission. An element may be invalid until its
	// token is sent.
	Due     []time.Duration
	Cached  func() int           // returns how many tokens of the prompt came from the prefix cache
	Drafts  func() engine.Drafts // returns the request's counts of speculative decoding
	Endless bool                 // the output has no last token
	Queued  *time.Duration       // the time from arrival to admission, valid after admission
}

// text renders the tokens with indices from to to-1 as a part of a JSON string.
func (a *Answer) text(from, to int) {
	s, first := a.Request.script, 0 // first is the index of the script's first token
	if s == nil {
		a.Buf = a.Words.Append(a.Buf, from+a.Request.shift, to+a.Request.shift)
		return
	}
	if a.Request.chat {
		first = a.Shape.ReasoningOf(a.Request.Output)
	}
	for i := from; i < to; i++ {
		if at := i - first; at >= 0 && at < len(s.json) {
			a.Add(s.json[at])
		} else {
			a.Buf = a.Words.Append(a.Buf, i, i+1)
		}
	}
}

// textBetween renders before, then the tokens with indices from to to-1, and then after.
func (a *Answer) textBetween(before string, from, to int, after string) {
	a.Add(before)
	a.text(from, to)
	a.Add(after)
}

// addList renders an array. The function element renders each of its elements.
func addList[T any](a *Answer, list []T, element func(i int, v T)) {
	a.Add("[")
	for i, v := range list {
		if i > 0 {
			a.Add(",")
		}
		element(i, v)
	}
	a.Add("]")
}

// finish returns the first argument if a stop string ended the output, the second if the output ended by
// itself, and otherwise the third.
func (a *Answer) finish(stopString, itself, limit string) string {
	switch {
	case a.Request.stop != "":
		return stopString
	case a.Request.Finish == "stop":
		return itself
	}
	return limit
}

// stopString returns, as JSON, the stop string that ended the output, or null if no stop string did.
func (a *Answer) stopString() string {
	if a.Request.stop == "" {
		return "null"
	}
	return jsontext.Quote(a.Request.stop)
}

// tokenCount returns the number of tokens in the output, math.MaxInt for an endless output.
func (a *Answer) tokenCount() int {
	if a.Endless {
		return math.MaxInt
	}
	return a.Request.Output
}

// ids renders the ids of the tokens with indices from to to-1 as an array.
func (a *Answer) ids(from, to int) {
	a.Add("[")
	a.Buf = vocab.AppendIDs(a.Buf, from+a.Request.shift, to+a.Request.shift)
	a.Add("]")
}

// prefillTime returns the time from admission to the first token's deadline.
func (a *Answer) prefillTime() time.Duration { return a.Due[0] }

// decodeTime returns the time from the first token's deadline to the deadline of the last of n
// tokens.
func (a *Answer) decodeTime(n int) time.Duration {
	return a.Due[min(max(n, 1), len(a.Due))-1] - a.Due[0]
}
