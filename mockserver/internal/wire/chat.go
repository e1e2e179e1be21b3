package wire

import "github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"

// A chat is an answer that consists of parts: first the reasoning, if there is any, then a text or a call.
type chat struct {
	Answer
	reason int // number of reasoning tokens
}

func newChat(a Answer) chat {
	c := chat{Answer: a}
	if a.Request.chat {
		c.reason = a.Shape.ReasoningOf(a.Request.Output)
	}
	return c
}

// A part says what tokens of a chat are: reasoning, text, or the arguments of a call.
type part int

const (
	reasoningPart part = iota
	textPart
	callPart
)

// partAt returns the part that contains token i.
func (c *chat) partAt(i int) part {
	switch {
	case i < c.reason:
		return reasoningPart
	case c.calls():
		return callPart
	}
	return textPart
}

// parts returns the parts of the whole answer.
func (c *chat) parts() (all []part) {
	if c.reason > 0 {
		all = append(all, reasoningPart)
	}
	if c.Request.Output > c.reason || c.reason == 0 {
		all = append(all, c.partAt(c.reason))
	}
	return all
}

// index returns the index of a part in the answer.
func (c *chat) index(p part) int {
	if p != reasoningPart && c.reason > 0 {
		return 1
	}
	return 0
}

// called returns the name of the function that the output calls, or "" if the output is text.
func (c *chat) called() string {
	switch {
	case !c.Request.chat || c.Request.Output <= c.reason:
		return ""
	case c.Request.script != nil:
		return c.Request.script.call
	case c.Shape.ToolCall:
		return "speak"
	}
	return ""
}

func (c *chat) calls() bool { return c.called() != "" }

// callsWhole reports whether the output calls a function, and the token limit does not cut the call off.
func (c *chat) callsWhole() bool { return c.calls() && !c.Request.cut(c.reason) }

// quotedCall returns the name of the called function as a JSON string.
func (c *chat) quotedCall() string { return jsontext.Quote(c.called()) }

// partText renders the tokens with indices from to to-1, all of one part, inside a JSON string. For a call, the
// string contains a JSON object, the arguments.
func (c *chat) partText(from, to int) {
	generated := c.partAt(from) == callPart && c.Request.script == nil // the tokens are plain words: put them into an object
	if generated && from == c.reason {
		c.Add(`{\"text\": \"`)
	}
	c.text(from, to)
	if generated && to == c.tokenCount() {
		c.Add(`\"}`)
	}
}

// callObject renders the arguments of the call as an object, which is empty if the token limit cuts the call
// off.
func (c *chat) callObject() {
	switch s := c.Request.script; {
	case c.Request.cut(c.reason):
		c.Add(`{}`)
	case s != nil:
		c.Add(s.text)
	default:
		c.textBetween(`{"text":"`, c.reason, c.Request.Output, `"}`)
	}
}

// finish returns call if the output is a complete call. For the other arguments see [Answer.finish].
func (c *chat) finish(call, stopString, itself, limit string) string {
	if c.calls() && (c.Request.script == nil || c.Request.Finish == "stop") {
		return call
	}
	return c.Answer.finish(stopString, itself, limit)
}
