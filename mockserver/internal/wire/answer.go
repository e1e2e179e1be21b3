package wire

import (
	"math"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
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

// calledFunction returns the name of the function that the output calls, or "" if the output
// is text. reason is the number of reasoning tokens before the call.
func (a *Answer) calledFunction(reason int) string {
	switch {
	case !a.Request.chat || a.Request.Output <= reason:
		return ""
	case a.Request.script != nil:
		return a.Request.script.call
	case a.Shape.ToolCall:
		return "speak"
	}
	return ""
}

// callText renders the tokens with indices from to to-1, which are a part of the arguments of
// a call. The arguments are a JSON object within a JSON string. They begin after reason
// tokens of reasoning and end with the output.
func (a *Answer) callText(reason, from, to int) {
	if from == reason && a.Request.script == nil {
		a.Add(`{\"text\": \"`)
	}
	a.text(from, to)
	if to == a.tokenCount() && a.Request.script == nil {
		a.Add(`\"}`)
	}
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
