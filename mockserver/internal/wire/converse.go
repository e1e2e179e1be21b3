package wire

import (
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A converseEncoder is the encoder of one answer of the Converse API.
type converseEncoder struct {
	Answer
	reason int // number of reasoning tokens; if above 0, the first block has the reasoning
}

func newConverse(a Answer) *converseEncoder {
	return &converseEncoder{a, a.Shape.ReasoningOf(a.Request.Output)}
}

func (c *converseEncoder) calls() bool { return c.calledFunction(c.reason) != "" }

// Opening renders the beginning of the message, and of a call. Other blocks have no event at
// their start.
func (c *converseEncoder) Opening() {
	c.Begin("messageStart")
	c.Add(`{"p":"abcd","role":"assistant"}`)
	c.End()
	if c.reason == 0 && c.calls() {
		c.openCall()
	}
}

func (c *converseEncoder) openCall() {
	c.Begin("contentBlockStart")
	c.Add(`{"contentBlockIndex":`)
	c.AddInt(c.index(c.reason))
	c.Add(`,"p":"abcdef","start":{"toolUse":{"name":`, jsontext.Quote(c.calledFunction(c.reason)), `,"toolUseId":"tooluse_`)
	c.Buf = strconv.AppendUint(c.Buf, c.Ordinal, 10)
	c.Add(`"}}}`)
	c.End()
}

// index returns the index of the block that contains token i.
func (c *converseEncoder) index(i int) int {
	if c.reason > 0 && i >= c.reason {
		return 1
	}
	return 0
}

func (c *converseEncoder) Tokens(from, to int) {
	for from < to {
		end := to
		if from < c.reason {
			end = min(to, c.reason)
		} else if from == c.reason && from > 0 && c.calls() {
			c.openCall()
		}
		c.delta(from, end)
		if end == c.reason || end == c.tokenCount() {
			c.close(from)
		}
		from = end
	}
}

// delta renders the event of tokens that belong to one block. The padding hides the length of the
// text from who reads along.
func (c *converseEncoder) delta(from, to int) {
	c.BeginTokens("contentBlockDelta")
	c.Add(`{"contentBlockIndex":`)
	c.AddInt(c.index(from))
	c.Add(`,"delta":{`)
	switch {
	case from < c.reason:
		c.Add(`"reasoningContent":{"text":"`)
		c.text(from, to)
		c.Add(`"}`)
	case c.calls():
		c.Add(`"toolUse":{"input":"`)
		c.callText(c.reason, from, to)
		c.Add(`"}`)
	default:
		c.Add(`"text":"`)
		c.text(from, to)
		c.Add(`"`)
	}
	c.Add(`},"p":"`, "abcdefghijklmnop"[:1+from%16], `"}`)
	c.EndTokens()
}

// close renders the events after the last token of the block that contains token i.
func (c *converseEncoder) close(i int) {
	if i < c.reason {
		c.Begin("contentBlockDelta")
		c.Add(`{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"bW9jaw=="}},"p":"abc"}`)
		c.End()
	}
	c.Begin("contentBlockStop")
	c.Add(`{"contentBlockIndex":`)
	c.AddInt(c.index(i))
	c.Add(`,"p":"ab"}`)
	c.End()
}

func (c *converseEncoder) Last(from, to int) {
	c.Tokens(from, to)
	c.Begin("messageStop")
	c.Add(`{"p":"abc","stopReason":"`, c.stopReason(), `"}`)
	c.End()
	c.Begin("metadata")
	c.Add(`{"metrics":{"latencyMs":`)
	c.AddInt(int(c.latency().Milliseconds()))
	c.Add(`},"p":"abcd"`)
	if c.Shape.Usage != shape.UsageNever {
		c.usage()
	}
	c.Add(`}`)
	c.End()
}

func (c *converseEncoder) Whole() {
	n := c.Request.Output
	c.Begin("")
	c.Add(`{"metrics":{"latencyMs":`)
	c.AddInt(int(c.latency().Milliseconds()))
	c.Add(`},"output":{"message":{"content":[`)
	if c.reason > 0 {
		c.Add(`{"reasoningContent":{"reasoningText":{"signature":"bW9jaw==","text":"`)
		c.text(0, c.reason)
		c.Add(`"}}}`)
	}
	if n > c.reason || c.reason == 0 {
		if c.reason > 0 {
			c.Add(`,`)
		}
		c.wholeBlock()
	}
	c.Add(`],"role":"assistant"}},"stopReason":"`, c.stopReason(), `"`)
	c.usage()
	c.Add(`}`)
	c.End()
}

// wholeBlock renders the block after the reasoning. A call that the token limit cuts off has no
// input, because the input is an object.
func (c *converseEncoder) wholeBlock() {
	if !c.calls() {
		c.Add(`{"text":"`)
		c.text(c.reason, c.Request.Output)
		c.Add(`"}`)
		return
	}
	c.Add(`{"toolUse":{"input":`)
	switch s := c.Request.script; {
	case c.Request.cut(c.reason):
		c.Add(`{}`)
	case s != nil:
		c.Add(s.text)
	default:
		c.Add(`{"text":"`)
		c.text(c.reason, c.Request.Output)
		c.Add(`"}`)
	}
	c.Add(`,"name":`, jsontext.Quote(c.calledFunction(c.reason)), `,"toolUseId":"tooluse_`)
	c.Buf = strconv.AppendUint(c.Buf, c.Ordinal, 10)
	c.Add(`"}}`)
}

// usage renders the field with the token counts. The input tokens do not include the tokens from
// the cache.
func (c *converseEncoder) usage() {
	cached := c.Cached()
	c.Add(`,"usage":{"cacheReadInputTokens":`)
	c.AddInt(cached)
	c.Add(`,"cacheWriteInputTokens":0,"inputTokens":`)
	c.AddInt(c.Request.Prompt - cached)
	c.Add(`,"outputTokens":`)
	c.AddInt(c.Request.Output)
	c.Add(`,"totalTokens":`)
	c.AddInt(c.Request.Prompt + c.Request.Output)
	c.Add(`}`)
}

func (c *converseEncoder) stopReason() string {
	switch {
	case c.calls() && (c.Request.script == nil || c.Request.Finish == "stop"):
		return "tool_use"
	case c.Request.stop != "":
		return "stop_sequence"
	case c.Request.Finish == "stop":
		return "end_turn"
	}
	return "max_tokens"
}

func (c *converseEncoder) Failed(e *Error, named bool) { awsFailed(c.Framer, e, named) }
